"""The features of a whole collection, for what is worked out on all of them."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from neardup.features.weighted import WeightedFeatures, joined
from neardup.fingerprints import engine
from neardup.fingerprints.maker import Maker
from neardup.pipeline.dedup.settings import DedupSettings
from neardup.pipeline.dedup.source import Source
from neardup.pipeline.inputs import maker_of


@dataclass(frozen=True, eq=False)
class CollectionFeatures:
    """Documents by their places: ids, and features with their weights."""

    ids: pa.Array
    features: WeightedFeatures


def fitted_maker(source: Source, settings: DedupSettings) -> Maker:
    """The maker of a scheme; one that weighs by tf-idf counts the collection first."""
    maker = maker_of(settings.scheme, settings.threads)
    return engine.fitted_maker(maker, (batch.columns for batch in source.batches()), None)


def collection_features(source: Source, maker: Maker) -> CollectionFeatures:
    """Read every document once; rows that cannot be read are left out."""
    ids, parts = [], []
    for batch in source.batches():
        ids.append(batch.ids)
        parts.append(maker.features(batch.columns))
    return CollectionFeatures(
        pa.concat_arrays(ids) if ids else pa.array([], pa.int64()), joined(parts)
    )
