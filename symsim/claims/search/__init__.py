"""Search for points of domains: certified evaluation, candidates, witnesses, boxes."""
