"""What a site's ReFrame settings import, how a new site begins, and how a site is checked.

The only part of the analysis that asks Slurm, compilers and this machine.
"""
