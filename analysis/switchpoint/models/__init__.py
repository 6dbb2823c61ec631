"""Models of a site: fitted to ping-pong curves, and used to predict kernels before they run.

One simulator predicts every kernel from a description of who sends what to whom.
"""
