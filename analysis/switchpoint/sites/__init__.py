"""What a site's ReFrame settings import, the settings of new sites, and the check of a site.

This is the only part of the analysis that asks Slurm, compilers and this machine.
"""
