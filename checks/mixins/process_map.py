"""Assigns each rank to a node of the placement."""

import reframe as rfm
from reframe.core.builtins import parameter, run_after, run_before
from reframe.core.exceptions import ReframeError
from switchpoint.records.rank_layout import nodes_of_map
from switchpoint.sites.placement_proof import map_contradictions

#: The launcher reads one host name per line from it, in rank order.
HOSTS_FILE = "process_map.hosts"


class ProcessMapMixin(rfm.RegressionTestPlugin):
    """Places each rank as a map says. The map has a letter for each rank, ``A`` for the first node.

    ``AABAABB`` puts ranks 0, 1, 3 and 4 on one node and 2, 5 and 6 on the other. A child defines
    ``process_map`` by the end of its init phase, which gives the number of ranks, and lists this
    mixin before the one that it adds to, `PlacementMixin`.
    """

    #: A letter for each rank: its node, from ``A`` on.
    #:
    #: :type: :class:`str`
    process_map = parameter(loggable=True)

    @run_after("init")
    def take_ranks_from_map(self):
        """Start as many ranks as the map has letters."""
        self.num_tasks = len(self.process_map)

    def deal_ranks(self):
        """Let the map distribute the ranks; refuse it if placement or launcher do not support it.

        It assumes srun in an allocation of whole nodes, which `PlacementMixin` requests.
        """
        wanted = self.requested_placement
        try:
            nodes = nodes_of_map(self.process_map)
        except ValueError as error:
            raise ReframeError(str(error)) from None
        if nodes != wanted.nodes:
            raise ReframeError(
                f"process map '{self.process_map}' needs {nodes} node(s), but placement "
                f"'{self.placement}' ({wanted.summary}) has {wanted.nodes}"
            )
        launcher = self.current_partition.launcher_type.registered_name
        if nodes > 1 and launcher != "srun":
            raise ReframeError(
                f"process map '{self.process_map}' needs the launcher 'srun', but partition "
                f"'{self.current_partition.fullname}' has '{launcher}'"
            )

    @run_before("run")
    def place_each_rank(self):
        """Write the map with the names of the job's nodes, and make srun follow it."""
        self.executable_opts.append(f"--label=process_map={self.process_map}")
        if self.requested_placement.nodes == 1:
            return
        places = " ".join(str(ord(letter) - ord("A")) for letter in self.process_map)
        self.prerun_cmds += [
            'nodes=($(scontrol show hostnames "$SLURM_JOB_NODELIST"))',
            f'for place in {places}; do echo "${{nodes[place]}}"; done >{HOSTS_FILE}',
            f"export SLURM_HOSTFILE={HOSTS_FILE}",
        ]
        self.job.launcher.options.append("--distribution=arbitrary")

    def refutations(self, header, footer):
        """Contradictions between the record and the placement or the map."""
        return [
            *super().refutations(header, footer),
            *map_contradictions(self.process_map, header),
        ]
