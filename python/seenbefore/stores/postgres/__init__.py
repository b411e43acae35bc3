"""The store in a PostgreSQL database, for many writers on many machines. The tables are in .schema.

How a batch is claimed while others are: see .claims. The driver is optional, so nothing is imported here.
"""
