"""Tables that other programs keep: workbooks, databases, Flight servers, saved datasets."""
