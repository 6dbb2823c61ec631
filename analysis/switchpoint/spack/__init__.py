"""Spack: what locks and specs say, and what Spack may take from this machine.

Reading a lock or a spec needs no Spack.
"""
