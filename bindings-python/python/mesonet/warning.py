"""The warnings of the package."""

__all__ = ["MesonetWarning"]


class MesonetWarning(UserWarning):
    """A result that is right but may not be what you wanted: a file without readings, rows without
    a place.

    >>> import warnings, mesonet
    >>> with warnings.catch_warnings(record=True) as warned:
    ...     warnings.simplefilter("always")
    ...     feed = mesonet.read_iem(b"station,valid,tmpf\\n")
    >>> len(feed), str(warned[0].message)
    (0, 'content: its kind is iem-asos; it holds nothing')
    """
