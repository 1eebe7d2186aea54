// Routines of SciPy's BLAS and LAPACK, by the addresses it gives.
#pragma once

#include "list.hpp"

namespace svmselect {

struct Lapack {
    void (*potrf)(char*, int*, double*, int*, int*);
    void (*potrs)(char*, int*, int*, double*, int*, double*, int*, int*);
    void (*pstrf)(char*, int*, double*, int*, int*, int*, double*, double*, int*);
    void (*gemm)(char*, char*, int*, int*, int*, double*, double*, int*, double*, int*, double*, double*,
                 int*);

    // C = A B, all of them by rows: (m, k) times (k, n).
    void multiply(Index m, Index n, Index k, double* A, double* B, double* C) const {
        char no = 'N';
        int rows = static_cast<int>(m), columns = static_cast<int>(n), inner = static_cast<int>(k);
        double one = 1.0, zero = 0.0;
        if (m == 0 || n == 0) return;
        int step = inner > 0 ? inner : 1;
        gemm(&no, &no, &columns, &rows, &inner, &one, B, &columns, A, &step, &zero, C, &columns);
    }

    // C -= A B, all of them by rows but B, which is by columns.
    void subtract_product(Index m, Index n, Index k, double* A, double* B, double* C) const {
        char no = 'N', yes = 'T';
        int rows = static_cast<int>(m), columns = static_cast<int>(n), inner = static_cast<int>(k);
        double minus = -1.0, one = 1.0;
        if (m == 0 || n == 0 || k == 0) return;
        gemm(&yes, &no, &columns, &rows, &inner, &minus, B, &inner, A, &inner, &one, C, &columns);
    }
};

}  // namespace svmselect
