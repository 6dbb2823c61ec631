"""Names the cause of a switch: suspects, origins, zooms and interventions.

The catalogue beside these modules contains what is known of MPI libraries.
"""
