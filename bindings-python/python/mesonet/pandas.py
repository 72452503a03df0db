"""The accessor ``mesonet`` of pandas: quality codes of frames.

``import mesonet.pandas`` registers it. It works on any frame with a column of base quality codes.
These are names, as in frames of the client, of the bulk export and of :func:`mesonet.read_feed`, or
numbers, as :func:`mesonet.check_station` gives them. By default the column is ``quality_base``.

>>> import pandas, mesonet.pandas
>>> frame = pandas.DataFrame({
...     "station": ["a", "a", "b"], "value": [20.1, 80.0, 19.5],
...     "quality_base": ["Good", "Error", "Doubtful"]})
>>> frame.mesonet.worst()
<BaseQuality.Error: 2>
>>> frame.mesonet.worst(by="station").to_dict()
{'a': 'Error', 'b': 'Doubtful'}
>>> frame.mesonet.at_least("Doubtful").value.tolist()
[20.1, 19.5]
"""

from typing import TYPE_CHECKING, Any, overload

import numpy as np
import pandas  # type: ignore[import-untyped,unused-ignore]

from ._mesonet import BASE_QUALITY_NAMES, MesonetError
from .crosswalk import Crosswalk
from .quality import BaseQuality, worst

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["QualityAccessor"]

_DTYPE = pandas.CategoricalDtype(BASE_QUALITY_NAMES, ordered=True)


@pandas.api.extensions.register_dataframe_accessor("mesonet")
class QualityAccessor:
    """``frame.mesonet``: the quality of the rows of a frame.

    Every method takes ``column``, the name of the column of base quality codes. A missing column, a
    missing code and an unknown code raise :class:`mesonet.MesonetError`.
    """

    def __init__(self, frame: pandas.DataFrame) -> None:
        self._frame = frame

    def codes(self, column: str = "quality_base") -> "NDArray[np.uint8]":
        """The codes as ``uint8``, 0 the worst, for the functions of the package.

        >>> import pandas, mesonet, mesonet.pandas
        >>> frame = pandas.DataFrame({"quality_base": ["Good", "Error"]})
        >>> mesonet.worse.reduce(frame.mesonet.codes())
        np.uint8(2)
        """
        if column not in self._frame:
            have = ", ".join(map(str, self._frame.columns))
            raise MesonetError(f"no column {column!r} of quality codes; there are {have}")
        given = self._frame[column]
        if given.isna().any():
            row = int(given.isna().to_numpy().argmax())
            raise MesonetError(f"row {row} of {column!r} has no quality code")
        if isinstance(given.dtype, pandas.CategoricalDtype):
            # Few categories for many rows.
            names, index = given.cat.categories, given.cat.codes.to_numpy()
        else:
            names, index = np.unique(given.to_numpy(), return_inverse=True)
        codes: NDArray[np.uint8] = np.array([BaseQuality(_plain(of)) for of in names], np.uint8)[index]
        return codes

    @overload
    def worst(self, by: None = None, *, column: str = "quality_base") -> BaseQuality: ...
    @overload
    def worst(self, by: object, *, column: str = "quality_base") -> "pandas.Series": ...
    def worst(self, by: object = None, *, column: str = "quality_base") -> "BaseQuality | pandas.Series":
        """The worst quality of the frame, or a Series with the worst of each group of ``by``
        (anything that ``DataFrame.groupby`` takes), as ordered categories. ``Unknown`` for no rows.

        >>> import pandas, mesonet.pandas
        >>> pandas.DataFrame({"quality_base": [6, 3]}).mesonet.worst()
        <BaseQuality.Doubtful: 3>
        """
        codes = self.codes(column)
        if by is None:
            return worst(codes)
        grouped = self._frame.assign(**{column: codes}).groupby(by, observed=True)[column].min()
        categories = pandas.Categorical.from_codes(grouped.to_numpy(np.int8), dtype=_DTYPE)
        return pandas.Series(categories, grouped.index, name=column)

    def at_least(self, quality: BaseQuality | int | str, *, column: str = "quality_base") -> "pandas.DataFrame":
        """The rows of this quality or a better one. ``Unknown`` (not checked) counts as the best.

        >>> import pandas, mesonet.pandas
        >>> frame = pandas.DataFrame({"quality_base": ["Unknown", "Good", "Inconsistent"]})
        >>> frame.mesonet.at_least("Good").index.tolist()
        [0, 1]
        """
        return self._frame[self.codes(column) >= BaseQuality(quality)]

    def masked(
        self,
        quality: BaseQuality | int | str,
        *,
        values: str = "value",
        column: str = "quality_base",
    ) -> "pandas.Series":
        """The values, with NaN where the quality is worse. No row is lost, which suits a time
        series.

        >>> import pandas, mesonet.pandas
        >>> frame = pandas.DataFrame({"value": [1.0, 2.0], "quality_base": ["Error", "Good"]})
        >>> frame.mesonet.masked("Good").tolist()
        [nan, 2.0]
        """
        return self._frame[values].where(self.codes(column) >= BaseQuality(quality))

    @overload
    def counts(self, by: None = None, *, column: str = "quality_base") -> "pandas.Series": ...
    @overload
    def counts(self, by: object, *, column: str = "quality_base") -> "pandas.DataFrame": ...
    def counts(self, by: object = None, *, column: str = "quality_base") -> "pandas.Series | pandas.DataFrame":
        """How many rows have each quality, worst first: a Series, or with ``by`` a frame with a row
        for each group. Qualities that do not occur are left out.

        >>> import pandas, mesonet.pandas
        >>> frame = pandas.DataFrame({"station": ["a", "a", "b"], "quality_base": [6, 3, 6]})
        >>> frame.mesonet.counts().to_dict()
        {'Doubtful': 1, 'Good': 2}
        >>> frame.mesonet.counts(by="station").loc["a"].tolist()
        [1, 1]
        """
        codes = self.codes(column)
        present = np.unique(codes)
        names = [BASE_QUALITY_NAMES[code] for code in present]
        if by is None:
            return pandas.Series([int((codes == code).sum()) for code in present], names, name="rows")
        marks = pandas.DataFrame(
            {name: codes == code for name, code in zip(names, present, strict=True)},
            index=self._frame.index,
        )
        keys = self._frame[by] if isinstance(by, (str, list)) else by
        by_columns = [keys[name] for name in keys] if isinstance(keys, pandas.DataFrame) else keys
        return marks.groupby(by_columns, observed=True).sum()

    def flags(self, scheme: Crosswalk[int] | Crosswalk[str], *, column: str = "quality_base") -> "pandas.Series":
        """The codes as flags of another scheme; None where the scheme has no counterpart.

        >>> import pandas, mesonet, mesonet.pandas
        >>> frame = pandas.DataFrame({"quality_base": ["Good", "Doubtful", "Error"]})
        >>> frame.mesonet.flags(mesonet.QARTOD).tolist()
        [1, 3, 4]
        """
        table = np.array([scheme.flag(code) for code in range(len(BASE_QUALITY_NAMES))], object)
        return pandas.Series(table[self.codes(column)], self._frame.index, name="flag").infer_objects()


def _plain(code: Any) -> Any:
    if isinstance(code, (float, np.floating)):
        raise MesonetError(f"a quality code is a name or a whole number; got {code}")
    return code.item() if isinstance(code, np.generic) else code
