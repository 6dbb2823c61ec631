"""Fills in the smallest times of points that an older version stored without them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa

from switchpoint.store.batches import Encoded
from switchpoint.store.tables import CURVES, MINIMUM, OTHER_IDENTITY
from switchpoint.tables.columns import IDENTITY
from switchpoint.tables.minima import with_told_minima

#: What distinguishes the points of a store.
_POINT = [*IDENTITY, OTHER_IDENTITY, "size_bytes"]


def lacks_minima(encoded: Encoded) -> bool:
    """Whether a point has no smallest time."""
    return bool(encoded.tables["curves"][MINIMUM].null_count)


def with_minima(encoded: Encoded) -> Encoded:
    """Return runs with the smallest time of each point, as far as samples or footers tell it."""
    curves = encoded.tables["curves"]
    points = curves.select([*_POINT, MINIMUM]).unify_dictionaries().to_pandas()
    lacking = points[MINIMUM].isna()
    points.loc[lacking, MINIMUM] = _minima(points[lacking], encoded)
    column = pa.array(points[MINIMUM], pa.float64(), from_pandas=True)
    place = CURVES.get_field_index(MINIMUM)
    curves = curves.set_column(place, CURVES.field(MINIMUM), column)
    return Encoded(encoded.tables | {"curves": curves})


def _minima(points: pd.DataFrame, encoded: Encoded) -> pd.Series[float]:
    """Return the smallest time of some points, as the import of their runs would."""
    own = encoded.only(points["run_id"].astype(str).unique().tolist())
    facts = own.tables["facts"].select(["run_id", "footer"]).to_pandas()
    found = with_told_minima(_of_samples(points, own), facts)
    gone = found[MINIMUM].isna()
    told = with_told_minima(found[gone], facts, only_thinned=False)
    return found[MINIMUM].where(~gone, told[MINIMUM])


def _of_samples(points: pd.DataFrame, encoded: Encoded) -> pd.DataFrame:
    """Return points with the smallest of their samples; null where these are gone."""
    samples = encoded.tables.get("samples")
    if samples is None or not len(samples):
        return points
    samples = samples.select([*_POINT, "time_us"]).unify_dictionaries()
    least = samples.group_by(_POINT).aggregate([("time_us", "min")]).to_pandas()
    texts = dict.fromkeys(_POINT[:-1], object)
    found = points[_POINT].astype(texts).merge(least.astype(texts), on=_POINT, how="left")
    return points.assign(**{MINIMUM: found["time_us_min"].to_numpy(np.float64)})
