"""The MPI libraries whose choice of algorithms a site can change: what they have, and their files.

One module for each library.
"""
