"""A real Slurm cluster on one machine, made of Linux namespaces."""
