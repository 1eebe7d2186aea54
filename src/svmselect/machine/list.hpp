// The vector of these headers.
#pragma once

#include <cstddef>
#include <vector>

namespace svmselect {

using Index = std::ptrdiff_t;

// A std::vector whose length and places are of type Index, as all lengths and places here are; the
// standard's own are unsigned.
template <typename T>
class List : private std::vector<T> {
    using Base = std::vector<T>;

  public:
    List() = default;
    explicit List(Index n, const T& value = T{}) : Base(static_cast<std::size_t>(n), value) {}
    List(const T* first, const T* last) : Base(first, last) {}

    using Base::back;
    using Base::begin;
    using Base::clear;
    using Base::data;
    using Base::emplace_back;
    using Base::empty;
    using Base::end;
    using Base::erase;
    using Base::push_back;

    Index size() const { return static_cast<Index>(Base::size()); }
    void resize(Index n) { Base::resize(static_cast<std::size_t>(n)); }
    void assign(Index n, const T& value) { Base::assign(static_cast<std::size_t>(n), value); }
    void assign(const T* first, const T* last) { Base::assign(first, last); }
    void swap(List& other) { Base::swap(other); }

    T& operator[](Index i) { return Base::operator[](static_cast<std::size_t>(i)); }
    const T& operator[](Index i) const { return Base::operator[](static_cast<std::size_t>(i)); }
};

}  // namespace svmselect
