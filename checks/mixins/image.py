"""Runs commands in the container image of an environment: its ``extras['container_image']``."""

import shlex

from reframe.core.containers import ContainerPlatform
from reframe.core.exceptions import ReframeError


def image_of(check):
    """Return the image of the check's environment; empty if its MPI is not in one."""
    return check.current_environ.extras.get("container_image", "")


def in_image(check, command, *folders):
    """Return a command line that runs a command in the image, or the command if there is no image.

    The partition's first ``container_platforms`` names the runtime, whose modules are loaded. The
    stage folder and `folders` have the same paths inside as outside.
    """
    image, partition = image_of(check), check.current_partition
    if not image:
        return command
    runtime = partition.container_runtime
    if runtime is None:
        raise ReframeError(
            f"environment '{check.current_environ.name}' is in an image, but partition "
            f"'{partition.name}' names no runtime: add "
            '"container_platforms": [{"type": "Apptainer"}]'
        )
    platform = ContainerPlatform.create(runtime)
    platform.image = shlex.quote(image)
    platform.command = command
    platform.workdir = platform.mount_stagedir = check.stagedir
    platform.mount_points = [(str(folder), str(folder)) for folder in folders]
    around = partition.container_environs[runtime]
    check.modules += around.modules
    check.env_vars.update(around.env_vars)
    return platform.launch_command(check.stagedir)
