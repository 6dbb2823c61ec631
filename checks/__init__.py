"""ReFrame checks: one file for each kernel or baseline, over few mixins."""
