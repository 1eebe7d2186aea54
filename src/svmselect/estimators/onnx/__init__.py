"""A fitted model as an ONNX graph, for runtimes without Python.

``graph`` builds graphs, ``kernels`` has a function for each kernel, ``judges`` one for each way
that probabilities come about, ``model`` puts a model together. A new form of any of them is a row
in the table of its module.
"""
