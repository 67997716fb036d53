"""What people say about documents: which are the same, which differ, which to keep.

A `DecisionFile` is append-only; `Current` is what holds now; `tables` has labels in and out.
"""

from neardup.decisions.current import Current as Current, Disagreement as Disagreement
from neardup.decisions.file import DecisionFile as DecisionFile
from neardup.decisions.model import (
    FILE_NAME as FILE_NAME,
    SAYS as SAYS,
    Decision as Decision,
    Named as Named,
    content_of as content_of,
)
