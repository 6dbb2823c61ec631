"""Parts that checks share: placement, build, a kernel's run, grids of sizes."""
