"""What a site's ReFrame settings import, how a new site begins, and how a site is checked.

The rest of the package knows nothing of Slurm and ReFrame.
"""
