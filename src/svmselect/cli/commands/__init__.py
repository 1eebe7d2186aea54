"""The commands as they are typed: one a file, with its options and their help.

What a command does, unless that is little, stands beside this folder in the module of the same
name, as ``run``; that is imported when the command is given, so that ``--help`` is quick.
"""
