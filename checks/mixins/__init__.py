"""What checks share: the placement, the build, a kernel's run, grids of sizes."""
