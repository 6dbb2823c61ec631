"""Names the cause of a switch: suspects, origins, zooms and interventions.

What is known of MPI libraries is in the catalogue beside these modules.
"""
