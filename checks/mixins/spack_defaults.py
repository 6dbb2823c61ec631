"""Prints the default of each variant of a package as JSON: `spack python spack_defaults.py NAME`.

Spack's own Python runs this, since it alone knows recipes.
"""

import json
import sys

import spack.repo

package = spack.repo.PATH.get_pkg_class(sys.argv[1])
defaults = {}
for variants in package.variants.values():
    for name, variant in variants.items():
        default = variant.default
        joined = ",".join(default) if isinstance(default, (list, tuple)) else str(default)
        defaults.setdefault(name, joined)
print("defaults: " + json.dumps(defaults))
