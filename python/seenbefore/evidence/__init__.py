"""Bundles: kept rows handed over with their receipts, rules and prior state, as `spec/bundle-1.md` lays them out."""
