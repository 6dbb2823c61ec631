"""ReFrame checks: one file for each kernel or baseline, and a few mixins."""
