"""The JSON answers of the service, as types for a checker.

The calls that return an answer as it is return one of these: plain dictionaries, named as in the
OpenAPI description. A member that may be absent is ``NotRequired``. An answer may have further
members in later versions.

>>> from mesonet import answers, capabilities
>>> alerts: answers.ProductAccess = capabilities("pro")["products"]["alerts"]
>>> alerts["allowed"]
True
"""

# Made by tests/python/write_answers.py of docs/openapi-v1.json.
# ruff: noqa

from typing import Literal, NotRequired, TypeAlias, TypedDict

AlertCertainty: TypeAlias = Literal['Observed', 'Likely', 'Possible', 'Unlikely', 'Unknown']
"""How certain the event is (CAP)."""


AlertColour: TypeAlias = Literal['Yellow', 'Orange', 'Red', 'Unknown']
"""Colour of the alert, from impact and confidence (ECCC). Other issuers do not give one."""


AlertConfidence: TypeAlias = Literal['Low', 'Moderate', 'High', 'VeryHigh', 'Unknown']
"""How sure the issuer is (ECCC)."""


AlertImpact: TypeAlias = Literal['Low', 'Moderate', 'High', 'Extreme', 'Unknown']
"""
How severe the impact is: on ECCC's own scale, or on that of CAP's severity if the
issuer has no scale of its own.
"""


AlertSeverity: TypeAlias = Literal['Extreme', 'Severe', 'Moderate', 'Minor', 'Unknown']
"""
How severe the event is (CAP). Unknown is a value of CAP too: the issuer says that it does
not know.
"""


AlertStatus: TypeAlias = Literal['Active', 'Superseded', 'Cancelled', 'Ended', 'Unknown']
"""The state of an alert, or of one of its areas."""


AlertType: TypeAlias = Literal['Statement', 'Advisory', 'Watch', 'Warning', 'Unknown']
"""Kind of alert."""


AlertUrgency: TypeAlias = Literal['Immediate', 'Expected', 'Future', 'Past', 'Unknown']
"""How soon people should act (CAP)."""


class AnswerInterval(TypedDict):
    """The interval of a value that is a statistic."""

    end: str
    """Its end, which is the valid time."""
    start: str
    """Its start."""
    statistic: str
    """
    How the values were combined: `average`, `accumulation`, `maximum`, `minimum`, or the number
    of another statistic (code table 4.10 of GRIB2).
    """


AreaKind: TypeAlias = Literal['Coverage', 'ThreatArea', 'Unknown']
"""The kind of an area."""


class Away(TypedDict):
    """Where a station is, if the stations around a place were asked for; else empty."""

    bearing: NotRequired[float]
    """Bearing of the station at that place, degrees clockwise from north."""
    distanceKm: NotRequired[float]
    """How far the station is from the place that was given, km; only then."""


BaseQualityCode: TypeAlias = Literal['Suppressed', 'Missing', 'Error', 'Doubtful', 'Inconsistent', 'Instrumentation', 'Good', 'Unknown']
"""How far a value can be trusted, worst first."""


class Bucket(TypedDict):
    prettyName: str


Check: TypeAlias = Literal['value', 'range', 'record', 'spike', 'step', 'jump', 'persistence', 'dewPoint', 'wetBulb', 'pressureOrder', 'pressureReduction', 'windGust', 'calmWind', 'rainfall', 'waveHeight', 'average', 'neighbours', 'neighbourChange']
"""A quality check, in the order in which the checks run."""


class CheckInput(TypedDict):
    """A value that a check looked at."""

    name: str
    """The name of a variable, or of a computed quantity."""
    timestamp: NotRequired[str]
    """The time of the value; absent if it has no time of its own."""
    unit: str
    """Its unit."""
    value: float | None
    """The value."""


class CheckLimit(TypedDict):
    """A limit that a check applied to the inputs."""

    max: NotRequired[float]
    """The largest allowed value; absent if there is no such limit."""
    min: NotRequired[float]
    """The smallest allowed value; absent if there is no such limit."""
    name: str
    """The name of the limited quantity."""
    source: str
    """Where the limit was published."""
    unit: str
    """The unit of both."""


CollectionType: TypeAlias = Literal['FeatureCollection']


class DayAgainstNeighbours(TypedDict):
    """Differences of one day."""

    compared: int
    """The number of readings that were compared."""
    day: str
    """The day, as in `2024-08-03`."""
    meanDifference: float
    """The mean of the differences."""
    medianDifference: float
    """Their median."""
    shareFlagged: float
    """The share that the neighbour check calls Doubtful, from 0 to 1."""


FeatureType: TypeAlias = Literal['Feature']
"""The word by which a GeoJSON Feature is known."""


class Feed(TypedDict):
    """The stations of a network."""

    late: bool
    """Whether that report is older, or no report has come."""
    lateAfterMinutes: NotRequired[int]
    """How old that report may be; absent if the feed is never late."""
    network: str
    """The name of the network."""
    newest: NotRequired[str]
    """The time of its newest report; reports ahead of the clock do not count."""
    stations: int
    """How many stations it has."""


class Feeds(TypedDict):
    """The networks of the record."""

    feeds: list[Feed]


class GridBounds(TypedDict):
    """The box around the cells; minLon is greater than maxLon across the antimeridian."""

    maxLat: float
    maxLon: float
    minLat: float
    minLon: float


IntervalType: TypeAlias = Literal['Instantaneous', 'Average', 'Cumulative', 'Max', 'Min', 'Median', 'Unknown']
"""How a value represents its interval."""


class LatLon(TypedDict):
    """A position as an object."""

    lat: float
    """Latitude."""
    lon: float
    """Longitude."""


LimitedBy: TypeAlias = Literal['cells', 'positions']
"""The cap that made a grid coarser."""


class MeanOf(TypedDict):
    """What a mean is of."""

    first: str
    """Time of the first of them."""
    last: str
    """Time of the last."""
    readings: int
    """How many readings these are made of."""
    terms: int
    """How many hours it is the mean of; in a month, how many days."""


MessageType: TypeAlias = Literal['Alert', 'Update', 'Cancel', 'Unknown']
"""The role of a message in its chain."""


class ModelCoverage(TypedDict):
    attribution: NotRequired[str]
    bounds: GridBounds
    forecast_hour_axis: list[float]
    """The hours of the latest run, counted from its start."""
    latest_run: str
    max_zoom: int
    nx: int
    ny: int
    """Rows and columns of the native grid of the latest run."""
    products: int
    tile_size: int
    title: str


MultiPolygonType: TypeAlias = Literal['MultiPolygon']


class ObservationType(TypedDict):
    """A series: one variable at one station, measured in one way."""

    calculated: bool
    """Whether the service derives its values."""
    firstAppearance: str
    groupBucketName: str
    """Label of the group that it belongs to, such as a layer of clouds; else empty."""
    id: int
    """Readings name it as `typeId`."""
    intervalMinutes: int
    """Length of averaging or accumulation; 0 if instantaneous."""
    intervalType: IntervalType
    localFirstAppearance: NotRequired[str]
    """The same as local time with its offset from UTC; only where `tz` was given."""
    name: str
    """Name of the variable."""
    prettyName: str
    reportedUnit: str
    """Unit of its values."""
    unit: NotRequired[str]
    """Unit of its values in an answer with the same units; only where units were asked for."""


Parallels: TypeAlias = list[float] | int


Plan: TypeAlias = Literal['none', 'free', 'pro', 'commercial']
"""The plan of a caller. Each includes the lower ones: a higher plan satisfies a lower requirement."""


class PointEntry(TypedDict):
    """
    A field at a point: `value` of a single level, else `values` in the order of `levels_hpa`.
    Missing values are null.
    """

    interval: NotRequired[AnswerInterval]
    """The interval, for a statistic over an interval."""
    levels_hpa: NotRequired[list[float]]
    """The levels."""
    member: NotRequired[int]
    """The ensemble member."""
    unit: str
    """The unit of the value."""
    value: NotRequired[float | None]
    """The value; null if it is missing."""
    values: NotRequired[list[float | None]]
    """One value for each level."""


PointType: TypeAlias = Literal['Point']


PolygonType: TypeAlias = Literal['Polygon']


Position: TypeAlias = list[float]
"""Longitude and latitude, degrees."""


class PrevailingWind(TypedDict):
    """The sector of 30° from which the wind came most often."""

    direction: float
    """Its centre."""
    sharePercent: float
    """Share of the readings, calm ones included."""
    speed: float
    """Mean speed in the sector."""


class ProductEncoding(TypedDict):
    """
    The size and packing of a product's grid. A value of a tile is raw · scale + offset, and missing
    if raw is nodata.
    """

    height: int
    """The number of rows."""
    nodata: int
    offset: float
    scale: float
    width: int
    """The number of columns."""


class ProductTimes(TypedDict):
    """The times of one duration, newest first."""

    duration: NotRequired[str]
    """Absent of an instant."""
    timestamps: list[str]


Qualifier: TypeAlias = Literal['trace', 'at_least', 'less_than']
"""What a report says about a value in addition to its number: `P0000`, `10+`, `M1/4SM`."""


class QualityRange(TypedDict):
    """Verdicts from a worst to a best in the order of the ranking; an absent side is open."""

    best: NotRequired[BaseQualityCode | None]
    worst: NotRequired[BaseQualityCode | None]


ReasonQualityCode: TypeAlias = Literal['None', 'Missing', 'ValueType', 'Range', 'Inert', 'Change', 'Decrease', 'Increase', 'Disagree', 'GreaterThan', 'LessThan', 'Difference', 'AverageInconsistent', 'Unknown']
"""Why a value has its base quality."""


class ReportOfStation(TypedDict):
    """One report as it came in."""

    header: NotRequired[str]
    """
    The heading of the bulletin that the report came in, such as `SACN31 CWAO 032000`; absent if
    it came without.
    """
    revision: int
    """0 for a first report, higher for each correction of it."""
    text: str
    """The report, with white space as one space."""
    timestamp: str
    """Time of the report."""


class ResultantWind(TypedDict):
    """The mean of the vectors."""

    direction: NotRequired[float]
    """Absent if the vectors cancel out."""
    speed: float


class RunDetail(TypedDict):
    """The details of a model run."""

    availableAt: str | None
    """When its newest part was published."""
    forecast_hour_axis: list[float]
    """The hours of the run, counted from its start."""
    forecast_hours: int
    partial_hours: list[int]
    """Those of them that lack a product or a level, or with a file that broke off."""
    published_hours: list[int]
    """The published hours, as indices into the axis."""
    run: str
    valid_from: str | None
    valid_to: str | None


Sampling: TypeAlias = Literal['nearest', 'bilinear']
"""How a pixel gets its value from the cells of the grid."""


class SeriesItem(TypedDict):
    """A field at an hour: `value` of a single level, else `values` in the order of `levels_hpa`."""

    hour: int
    """The index into the hours of the run."""
    interval: NotRequired[AnswerInterval]
    """The interval, for a statistic over an interval."""
    valid_time: str
    """The valid time of the hour."""
    value: NotRequired[float | None]
    """For a single-level field, or for the requested level."""
    values: NotRequired[list[float | None]]
    """For all levels, in the order of `levels_hpa`."""


Standing: TypeAlias = Literal['none', 'staff', 'organization']
"""What a product requires besides a plan. No plan grants it."""


StationType: TypeAlias = Literal['OpenCountry', 'Suburban', 'OpenWater']
"""Exposure class of a station."""


class SummarySource(TypedDict):
    """A reading; `/observations/explain` says why it has its verdict."""

    intervalMinutes: int
    """Length of the interval that ends with the report; 0 if instantaneous."""
    intervalType: IntervalType
    timestamp: str
    """Time of the report."""
    typeId: int
    """The series."""


ThreatStatus: TypeAlias = Literal['Issued', 'Continued', 'Ended', 'Cancelled', 'Unknown']
"""What a message does to a threat area (ECCC)."""


Uuid: TypeAlias = str
"""
Id of a station: a UUID v5 of its network and its native id there. It survives restarts and
re-imports, and is the same on every server.
"""


class WeatherReport(TypedDict):
    """What one report says of the weather."""

    presentWeather: list[str]
    """
    The present weather in words, one text for each group of the report; empty if the report
    says that there is none.
    """
    timestamp: str
    """Time of the report."""


class WindRotation(TypedDict):
    """
    The angle between a grid's axes and true north at one cell, as its cosine and sine: earth-relative
    u = cos · u + sin · v, and v = −sin · u + cos · v.
    """

    cos: float
    """Cosine of the angle."""
    sin: float
    """Sine of the angle."""


ZoneKind: TypeAlias = Literal['base', 'public', 'marine', 'fire', 'county']
"""
The kind of a zone. A UGC with a Z can name a forecast zone and also a fire weather zone with a
different outline, so the code alone does not determine the kind.
"""


class AgainstNeighbours(TypedDict):
    """
    Differences of a station from its neighbours, station minus neighbours, in the unit of the
    variable, rounded to hundredths. For station pressures, the differences are between altimeter
    settings.
    """

    compared: int
    """The number of readings that were compared."""
    days: list[DayAgainstNeighbours]
    """The same for each day in UTC that has readings."""
    meanDifference: float
    """The mean of the differences."""
    medianDifference: float
    """Their median; a few wrong readings do not move it."""
    medianStandardizedDifference: float
    """
    The median of the differences in standard deviations. Beyond 3 or so, it is the station that
    is unlike its neighbours, not its weather.
    """
    shareFlagged: float
    """The share that the neighbour check calls Doubtful, from 0 to 1."""
    spread: float
    """Their standard deviation; 0 for a single difference."""
    unit: str
    """The unit of the differences."""


class AlertArea(TypedDict):
    """An area of an alert."""

    alertColour: NotRequired[AlertColour]
    """Colour."""
    alertConfidence: NotRequired[AlertConfidence]
    """Confidence."""
    alertDescription: NotRequired[str]
    """Description."""
    alertHeadline: NotRequired[str]
    """Headline."""
    alertImpact: NotRequired[AlertImpact]
    """Impact."""
    alertType: NotRequired[AlertType]
    """Kind of alert."""
    certainty: NotRequired[AlertCertainty]
    """Certainty in CAP's words."""
    clcCode: NotRequired[str]
    """Code of its zone: CLC in Canada, UGC in the United States."""
    description: str
    """Its name."""
    effectiveTime: NotRequired[str]
    """When it takes effect."""
    event: NotRequired[str]
    """What is expected. With the fields below: only where it is not what the alert says."""
    eventEndTime: NotRequired[str]
    """When the event itself ends."""
    expiryTime: NotRequired[str]
    """When the message expires."""
    instruction: NotRequired[str]
    """What to do."""
    kind: AreaKind
    """Its kind."""
    onset: NotRequired[str]
    """When the event begins."""
    polygons: list[list[LatLon]]
    """The rings that the message itself draws; holes are rings of their own."""
    severity: NotRequired[AlertSeverity]
    """Severity in CAP's words."""
    status: AlertStatus
    """The state of the alert there."""
    threatStatus: ThreatStatus
    """What the message does to it, if it is a threat area."""
    ugcCode: NotRequired[str]
    """The same code, only in the United States."""
    urgency: NotRequired[AlertUrgency]
    """Urgency in CAP's words."""
    zoneKind: NotRequired[ZoneKind]
    """
    `fire` if the code is that of a fire weather zone, which differs from the forecast zone of
    the same code.
    """


class AlertStorm(TypedDict):
    """A storm."""

    directionDeg: NotRequired[float]
    """The direction it moves towards, degrees clockwise from north."""
    geometryType: NotRequired[str]
    """Its form, as the message gives it."""
    motion: NotRequired[str]
    """How it moves, in words."""
    points: list[LatLon]
    """Where it was."""
    position: NotRequired[str]
    """Where it is, in words."""
    referencePoints: NotRequired[list[str]]
    """Places near it."""
    speedKmh: NotRequired[float]
    """How fast it moves."""
    time: NotRequired[str]
    """When it was observed."""


class BulkEntry(TypedDict):
    """One entry of a request: the series that it matches, and which of their rows pass."""

    calculated: NotRequired[bool | None]
    """Whether the service derived the values."""
    groupBucketName: NotRequired[str | None]
    """Label of the bucket; an empty label selects series that are not grouped."""
    intervalMinutes: NotRequired[int | None]
    """Length of averaging or accumulation."""
    intervalType: NotRequired[IntervalType | None]
    lowerValueBound: NotRequired[float | None]
    """The least value, included."""
    name: NotRequired[str | None]
    """Name of the variable."""
    qualityRange: NotRequired[QualityRange | None]
    reportedUnit: NotRequired[str | None]
    """Unit of the values."""
    upperValueBound: NotRequired[float | None]
    """The greatest value, included."""


class Coarsening(TypedDict):
    """Why an answer has a coarser step than requested."""

    cells: int
    """The number of cells of the answer: stations × names × positions."""
    factor: int
    """How many times the requested step is used."""
    limitedBy: LimitedBy
    """The cap that required the greater factor; positions if both required the same."""
    positions: int
    """The number of positions of the answer."""
    requestedStep: int
    """The requested step, in minutes."""


class Coverage(TypedDict):
    """The models that the caller may use and that have a run."""

    models: dict[str, ModelCoverage]


class EarlierPlace(TypedDict):
    """A place where a station was before it moved."""

    coordinates: Position
    until: str
    """The first moment at which it was elsewhere."""


class ListedProduct(TypedDict):
    """A value is raw · scale + offset, and missing if raw is nodata."""

    durations: list[ProductTimes]
    noEcho: NotRequired[float]
    """
    The value that stands for "no echo" where a radar sees, of products that have one; a place that no radar
    sees is nodata.
    """
    nodata: int
    offset: float
    scale: float
    title: str
    unit: str


class ModelGrid(TypedDict):
    """The definition of a native grid, and the same as a PROJ string."""

    bounds: GridBounds
    central_lon: NotRequired[float]
    column_step: float
    """Metres on a map, degrees on a globe."""
    columns: int
    """As `nx`."""
    corners: list[Position | None]
    """
    Longitude and latitude of the cells at the corners: the first and last of the first row, the
    last and first of the last row.
    """
    first_lat: float
    first_lon: float
    """The cell at row 0 and column 0."""
    flattening: NotRequired[float]
    grid_relative_winds: bool
    """Whether winds are along the axes of the grid."""
    nx: int
    ny: int
    origin_lat: NotRequired[float]
    parallels: NotRequired[Parallels]
    """Two parallels of a conic projection, or the number of parallels of a Gaussian grid."""
    proj: str
    """The PROJ string of the projection."""
    projection: str
    """Name of the projection; which of the members after it are there depends on it."""
    radius_m: NotRequired[float]
    row_step: float
    rows: int
    """As `ny`."""
    run: str
    south: NotRequired[bool]
    south_pole_lat: NotRequired[float]
    south_pole_lon: NotRequired[float]
    true_lat: NotRequired[float]
    x0: float
    """Of row 0 and column 0 in the projection; the steps are counted from there."""
    y0: float


class ModelPoint(TypedDict):
    """Exact values of one cell of the native grid at one hour."""

    availableAt: str | None
    """When the newest part of the hour was published."""
    col: int
    """The column of the native grid."""
    fields: dict[str, PointEntry]
    """The entry of each field by its name, in the requested order."""
    forecast_hours: int
    """The number of hours of the run."""
    hour: int
    """The index into the hours of the run."""
    lat: float | None
    """The latitude of the centre; null if the definition of the grid extends beyond a pole there."""
    lon: float | None
    """Its longitude, −180 to just below 180, or null."""
    row: int
    """The row of the native grid."""
    run: str
    """The run."""
    valid_time: str
    """The valid time of the hour."""
    wind_rotation: WindRotation
    """The rotation of the winds in the answer towards true north."""


class ModelProduct(TypedDict):
    encoding: ProductEncoding
    """How its tiles represent values."""
    field: NotRequired[str]
    """What its fields are of, if it is not a single forecast: `member`, `mean` and so on."""
    interval: NotRequired[str]
    """The interval that its fields cover, as the catalogue states it, and their statistic over it."""
    levels_hpa: list[float] | None
    """Its levels; null for a single-level product."""
    members: NotRequired[list[int]]
    """Its ensemble members; 0 is the control."""
    name: str
    """Its name."""
    no_echo: NotRequired[float]
    """
    The value that stands for "no echo" where a radar sees, if it has one. A place that no radar
    sees is nodata.
    """
    packing_error: float
    """The packing error of a value, in its unit: half a step of the packing."""
    sampling: Sampling
    """How the pixels of its tiles are sampled."""
    statistic: NotRequired[str]
    tile_packing_error: float
    """
    The same for the pixels of its tiles: they are packed once more after they were interpolated
    or turned.
    """
    title: NotRequired[str]
    unit: str
    """The unit of its values."""
    wind: NotRequired[list[str]]
    """Both components of the wind that it is one of."""


class ModelProducts(TypedDict):
    """The products of a run."""

    products: list[ModelProduct]
    run: str
    """The run that has the products."""


class ModelRuns(TypedDict):
    """The runs, latest first."""

    details: list[RunDetail]
    """Details of each, in the same order: an addition to the interface."""
    runs: list[str]


class MultiPolygonGeometry(TypedDict):
    """Several outlines."""

    coordinates: list[list[list[Position]]]
    type: MultiPolygonType


class Neighbour(TypedDict):
    """A station that a value was compared with."""

    distanceKm: float
    """Its distance."""
    name: NotRequired[str]
    """Its name, if the stations are those of a store."""
    riseM: float
    """How much higher it is; 0 if the altitude of either station is unknown."""
    standardizedDifference: NotRequired[float]
    """
    Its own difference from what the other neighbours say, in standard deviations; absent if it
    was left out.
    """
    stationId: NotRequired[Uuid]
    """Its id, if the stations are those of a store."""
    value: float
    """
    Its value at the time of the reading, in the unit of the reading; for a station pressure,
    the altimeter setting. In the check of changes, its change.
    """
    weight: float
    """Its weight in what the neighbours say; 0 if it is unlike the others and so left out."""


class PointGeometry(TypedDict):
    coordinates: Position
    type: PointType


class PolygonGeometry(TypedDict):
    """An outline; its rings are closed, and the first is the outer one."""

    coordinates: list[list[Position]]
    type: PolygonType


class ProductAccess(TypedDict):
    """A caller's access to one product."""

    allowed: bool
    """Whether the caller may use it."""
    requires: Plan
    """The lowest plan that may use it."""
    requiresStanding: Standing
    """What it requires besides a plan."""


class ProductList(TypedDict):
    products: dict[str, ListedProduct]


class Quality(TypedDict):
    """The verdict on a value."""

    baseQuality: BaseQualityCode
    """How far the value can be trusted."""
    reasonQuality: ReasonQualityCode
    """Why."""


class Reading(TypedDict):
    age: NotRequired[int]
    """Seconds between the time of the grid and the reading; only of grids."""
    localTimestamp: NotRequired[str]
    """The local time with its offset from UTC; only where `tz` was given."""
    qualifier: NotRequired[Qualifier]
    quality: Quality
    timestamp: str
    type: str
    """Name of the variable."""
    typeId: int
    """The series: an id among the `types` of the station."""
    unit: NotRequired[str]
    """Unit of the value; only where units were asked for."""
    value: float
    """In the unit of the series, or in `unit`."""


class SeriesEntry(TypedDict):
    """A field over time."""

    levels_hpa: list[float] | None
    """The levels of a pressure-level product: the requested one, or all; null for a single level."""
    member: NotRequired[int]
    """The ensemble member."""
    series: list[SeriesItem]
    """The items by time; hours that are not published yet are left out."""
    unit: str
    """The unit of the values."""


class SeriesReading(TypedDict):
    calculated: bool
    groupBucketName: NotRequired[str]
    localTimestamp: NotRequired[str]
    """The local time with its offset from UTC; only where `tz` was given."""
    qualifier: NotRequired[Qualifier]
    quality: Quality
    reportText: NotRequired[str]
    """The report that the reading came in, if it has a text; only with `reportText=true`."""
    timestamp: str
    unit: NotRequired[str]
    """Unit of the value; only where units were asked for."""
    value: float


class StationDetail(TypedDict):
    altitude: NotRequired[float]
    """
    Altitude of the station above mean sea level in metres, if it is known; only if `fields`
    names it.
    """
    bearing: NotRequired[float]
    """Bearing of the station at that place, degrees clockwise from north."""
    coordinates: Position
    """Where it is now."""
    distanceKm: NotRequired[float]
    """How far the station is from the place that was given, km; only then."""
    earlierPlaces: NotRequired[list[EarlierPlace]]
    """
    Where it was before it moved, the oldest first, at most 64; absent if it has not.
    Readings before `until` are from there.
    """
    elevation: float
    """Height of the sensor above ground in metres; 0 where the network gives none."""
    identifiers: dict[str, list[str]]
    """Its ids by scheme: `icao`, `wmo`, the provider's own and others."""
    localUpdateTime: NotRequired[str]
    """The same as local time with its offset from UTC; only where `tz` was given."""
    name: str
    """Unique only within a network."""
    network: str
    """Data provider, as the source feed names it."""
    presentWeather: NotRequired[list[str]]
    """What the most recent report says of the weather."""
    qualities: list[BaseQualityCode]
    """Distinct verdicts on its latest readings of map variables over 12 hours, worst first."""
    reportText: NotRequired[str]
    """Its newest report as it came in, of the last 12 hours; only if `fields` names it."""
    stationType: NotRequired[StationType]
    timeZone: NotRequired[str]
    """The time zone of the local times; only where `tz` was given."""
    types: list[ObservationType]
    """The series that it reports."""
    updateTime: NotRequired[str]
    """When the station last reported."""


StationDetails: TypeAlias = dict[str, StationDetail]
"""Stations by id."""


class StationMarker(TypedDict):
    """A station as a GeoJSON Feature."""

    geometry: PointGeometry
    id: Uuid
    """Id of the station."""
    properties: Away
    type: FeatureType


class StationMarkers(TypedDict):
    """All stations as a GeoJSON FeatureCollection."""

    features: list[StationMarker]
    type: CollectionType


class StationReadings(TypedDict):
    bearing: NotRequired[float]
    """Bearing of the station at that place, degrees clockwise from north."""
    distanceKm: NotRequired[float]
    """How far the station is from the place that was given, km; only then."""
    readings: list[Reading]
    """By time, then in the order of the names, then by series."""
    timeZone: NotRequired[str]
    """The time zone of the local times; only where `tz` was given."""


class StationReports(TypedDict):
    """The texts of the reports of one station in a window, ascending in time."""

    next: NotRequired[str]
    """
    Time of the first report of the window that is not in the answer; absent if all are. The
    same request with it as `start` continues.
    """
    reports: list[ReportOfStation]
    """
    The reports that have a text, each the one in force at its time: what a correction or a newer
    report has replaced is not kept.
    """
    stationId: Uuid
    """The station."""


class StationWeather(TypedDict):
    """The present weather of the reports of one station in a window, ascending in time."""

    reports: list[WeatherReport]
    """The reports that say anything about the weather."""
    stationId: Uuid
    """The station."""


SummaryExtreme = TypedDict(
    'SummaryExtreme',
    {
        'coveragePercent': float,
        'from': SummarySource,
        'qualifier': NotRequired[Qualifier],
        'quality': Quality,
        'value': float,
    },
)


SummaryMean = TypedDict(
    'SummaryMean',
    {
        'coveragePercent': float,
        'from': MeanOf,
        'quality': Quality,
        'value': float,
    },
)


class SummaryPart(TypedDict):
    """An amount that is a part of a total."""

    intervalMinutes: int
    """Length of the interval that ends with the report; 0 if instantaneous."""
    intervalType: IntervalType
    qualifier: NotRequired[Qualifier]
    quality: Quality
    timestamp: str
    """Time of the report."""
    typeId: int
    """The series."""
    value: float


class TotalOf(TypedDict):
    """What a total is of."""

    first: str
    """Time of the first of them."""
    last: str
    """Time of the last."""
    parts: NotRequired[list[SummaryPart]]
    """The amounts by time; not of a month."""
    readings: int
    """How many amounts it is of."""


class VerdictRate(TypedDict):
    """The number of times that a verdict was given."""

    quality: Quality
    """The verdict."""
    readings: int
    """The number of readings."""
    share: float
    """Their share of the readings of the month, from 0 to 1."""


class Zone(TypedDict):
    areaKm2: NotRequired[float]
    centroid: NotRequired[LatLon]
    clcCode: str
    """CLC in Canada, UGC in the United States."""
    kind: ZoneKind
    nameEn: str
    nameFr: str
    retired: NotRequired[bool]
    """Whether it is in use no longer; only if so."""
    ugcCode: NotRequired[str]
    """The same, only in the United States."""


class Alert(TypedDict):
    """An alert as the service returns it."""

    alertColour: AlertColour
    """Colour."""
    alertConfidence: AlertConfidence
    """Confidence."""
    alertDescription: str
    """Description."""
    alertHeadline: str
    """Headline."""
    alertImpact: AlertImpact
    """Impact."""
    alertType: AlertType
    """Kind of alert."""
    areas: NotRequired[list[AlertArea]]
    """The areas."""
    certainty: NotRequired[AlertCertainty]
    """Certainty in CAP's words."""
    coverage: NotRequired[str]
    """The region, in words."""
    designationCode: NotRequired[str]
    """Code of the issuer's list of areas."""
    effectiveTime: str
    """When it takes effect: when it was sent, if it does not say (CAP 1.2 §3.2.2)."""
    event: NotRequired[str]
    """What is expected."""
    eventCodes: NotRequired[dict[str, list[str]]]
    """Codes of the event, by the name of their list."""
    eventEndTime: NotRequired[str]
    """When the event itself ends."""
    expiryTime: NotRequired[str]
    """When the message expires."""
    id: str
    """Identifier of the message."""
    instruction: NotRequired[str]
    """What to do."""
    issuer: str
    """Who issues the alert."""
    language: NotRequired[str]
    """Language of the text, such as `en-CA`; absent if the message has no text."""
    messageType: MessageType
    """The role of the message in its chain."""
    missingZones: NotRequired[list[str]]
    """
    The places that the geometry lacks: codes of zones whose outlines are not known, and names
    of areas without a code or an outline.
    """
    nextIds: NotRequired[list[str]]
    """Ids of the messages that follow it."""
    onset: NotRequired[str]
    """When the event begins."""
    previousIds: NotRequired[list[str]]
    """Ids of the messages that it refers to."""
    riskRanking: NotRequired[int]
    """Rank of the risk."""
    sameCodes: NotRequired[list[str]]
    """Codes of its places for Specific Area Message Encoding, sorted."""
    sent: str
    """When it was sent."""
    severity: NotRequired[AlertSeverity]
    """Severity in CAP's words."""
    status: AlertStatus
    """The state of the alert as of the time of the request, over the whole chain of messages."""
    storm: NotRequired[AlertStorm]
    """The storm."""
    urgency: NotRequired[AlertUrgency]
    """Urgency in CAP's words."""
    web: NotRequired[str]
    """Address of a page about the alert."""


class Capabilities(TypedDict):
    """What a caller may do, in the form of the interface. A product that is not named is not offered."""

    limits: dict[str, int | None]
    """The limits by name; null means unlimited. Unknown names are to be ignored."""
    products: dict[str, ProductAccess]
    """
    The access by product id; of models, `models.MODEL` for a source, `models.MODEL.PRODUCT` for
    tiles and series of a product that has its own rule.
    """


class CheckReport(TypedDict):
    """What one check found."""

    check: Check
    """The check."""
    inputs: list[CheckInput]
    """The values it looked at."""
    limits: list[CheckLimit]
    """The limits it applied to them."""
    neighbours: NotRequired[list[Neighbour]]
    """The stations that the value was compared with, nearest first; empty for other checks."""
    notRunBecause: NotRequired[str]
    """Why the check did not run, if it did not."""
    outcome: NotRequired[Quality]
    """The verdict of the check: Good if it passed; absent if it did not run."""
    ran: bool
    """Whether it ran."""


class DegreeDays(TypedDict):
    """Degree days: how far (maximum + minimum) / 2 is from a base, in °C or `unit` times days."""

    base: float
    """The base."""
    cooling: float
    """Above it."""
    coveragePercent: float
    days: int
    """How many days they are of."""
    heating: float
    """Below the base."""
    quality: Quality
    """The worst verdict on the extremes."""
    unit: NotRequired[str]
    """Unit of the temperatures; only where units were asked for."""


Geometry: TypeAlias = PolygonGeometry | MultiPolygonGeometry
"""The outline of an area, as it is written."""


class InputVerdict(TypedDict):
    """An input of a calculated reading."""

    quality: Quality
    """Its verdict."""
    type: str
    """Name of the variable."""
    typeId: int
    """The series."""
    value: float
    """The value, in the series' unit."""


class ModelSeries(TypedDict):
    """Values of one cell over the hours of a run."""

    availableAt: str | None
    """When the newest part of the run was published."""
    col: int
    """The column of the native grid."""
    fields: dict[str, SeriesEntry]
    """The entry of each field by its name, in the requested order."""
    forecast_hours: int
    """The number of hours of the run."""
    lat: float | None
    """The latitude of the centre; null if the definition of the grid extends beyond a pole there."""
    lon: float | None
    """Its longitude, −180 to just below 180, or null."""
    row: int
    """The row of the native grid."""
    run: str
    """The run."""
    valid_from: str
    """The first valid time of the whole run."""
    valid_to: str
    """The last valid time of the whole run."""
    wind_rotation: WindRotation
    """The rotation of the winds in the answer towards true north."""


class MonthOfVerdicts(TypedDict):
    """The verdicts of a month."""

    month: str
    """Year and month in UTC, as in `2024-08`."""
    readings: int
    """The number of readings."""
    verdicts: list[VerdictRate]
    """Each verdict that occurred, worst first."""


class ObservationSeries(TypedDict):
    """
    Readings of one variable at one station. Where several series match, the description is that
    of the first.
    """

    bucketMetadata: NotRequired[dict[str, Bucket]]
    """By name of the bucket; only of series that have one."""
    firstAppearance: str
    intervalMinutes: int
    intervalType: IntervalType
    name: str
    prettyName: str
    readings: list[SeriesReading]
    """By time, then by series."""
    reportedUnit: str
    stationId: Uuid
    timeZone: NotRequired[str]
    """The time zone of the local times; only where `tz` was given."""
    unit: NotRequired[str]
    """Unit of the values of the first series; only where units were asked for."""


PeakWind = TypedDict(
    'PeakWind',
    {
        'coveragePercent': float,
        'direction': NotRequired[float],
        'from': SummarySource,
        'name': str,
        'qualifier': NotRequired[Qualifier],
        'quality': Quality,
        'value': float,
    },
)


class Readings(TypedDict):
    """Readings by station."""

    coarsening: NotRequired[Coarsening]
    """Why the step is not the requested one; only where it is not."""
    stations: dict[str, StationReadings]
    """By station id; stations without readings are left out."""
    step: NotRequired[int]
    """The step of the grid in minutes, as used; only where one was requested."""


SummaryTotal = TypedDict(
    'SummaryTotal',
    {
        'coveragePercent': float,
        'from': TotalOf,
        'qualifier': NotRequired[Qualifier],
        'quality': Quality,
        'value': float,
    },
)


class VariableQuality(TypedDict):
    """The quality of one variable."""

    months: list[MonthOfVerdicts]
    """The verdicts on its readings, of all its series, by month."""
    neighbours: NotRequired[AgainstNeighbours]
    """The comparison with neighbours; absent if no reading could be compared."""
    type: str
    """Name of the variable."""


class VariableSummary(TypedDict):
    """The summary of one variable."""

    count: int
    """How many readings counted."""
    max: NotRequired[SummaryExtreme]
    mean: NotRequired[SummaryMean]
    """Of the means of the hours; in a month, of those of the days."""
    meanOfMax: NotRequired[SummaryMean]
    """The mean of the maxima of the days; only of a month."""
    meanOfMin: NotRequired[SummaryMean]
    """The mean of the minima of the days; only of a month."""
    min: NotRequired[SummaryExtreme]
    rejected: int
    """How many readings were rejected: Suppressed, Missing or Error."""
    total: NotRequired[SummaryTotal]
    unit: str
    """Unit of all values."""


class WindSummary(TypedDict):
    """The wind of a period. Speeds are in km/h or in `unit`, directions in degrees from which it blows."""

    calm: int
    """How many of them were calm."""
    coveragePercent: float
    peak: NotRequired[PeakWind]
    prevailing: NotRequired[PrevailingWind]
    quality: Quality
    """The worst verdict on them."""
    readings: int
    """How many readings of the speed counted."""
    resultant: NotRequired[ResultantWind]
    unit: NotRequired[str]
    """Unit of the speeds, that of `windSpeed`; only where units were asked for."""
    variable: int
    """How many had no direction."""


class ZoneFeature(TypedDict):
    """A zone as a GeoJSON Feature."""

    geometry: Geometry
    id: str
    """The code."""
    properties: Zone
    type: FeatureType


class Zones(TypedDict):
    """A GeoJSON FeatureCollection of zones, in the order of the codes."""

    features: list[ZoneFeature]
    type: CollectionType


class AlertFeature(TypedDict):
    """An alert with the outlines of its areas, as the service returns it."""

    geometry: Geometry | None
    id: str
    """Id of the alert."""
    properties: Alert
    type: FeatureType


class Alerts(TypedDict):
    """A GeoJSON FeatureCollection of alerts, newest first."""

    features: list[AlertFeature]
    type: CollectionType


class Explanation(TypedDict):
    """Why a reading has its verdict."""

    calculatedFrom: NotRequired[list[InputVerdict]]
    """The inputs of a calculated reading, whose verdict is the worst of theirs."""
    checks: list[CheckReport]
    """
    The checks that concern the variable, in order. If the source said Good, only a physical
    check whose limit the value exceeds.
    """
    decidedBy: NotRequired[Check]
    """The check that gave the verdict; absent if the verdict is the source's or no check tripped."""
    qualifier: NotRequired[Qualifier]
    """The qualifier of the value."""
    source: Quality
    """
    The source's verdict. Good is kept and not checked again. Unknown is not a verdict. Any
    other verdict is kept unless a check finds worse.
    """
    stationId: Uuid
    """The station."""
    timestamp: str
    """Time of the reading."""
    typeId: int
    """The series."""
    unit: str
    """Unit of the value."""
    value: float | None
    """The value; null if it is not a number."""
    variable: str
    """Name of the variable."""
    verdict: Quality
    """The verdict."""


class PeriodSummary(TypedDict):
    """The summary of one period."""

    degreeDays: NotRequired[DegreeDays]
    end: str
    """End, not included."""
    name: str
    """The date of a day, year and month of a month, else the start."""
    start: str
    """Start, included."""
    variables: dict[str, VariableSummary]
    """By name of the variable; only those with readings."""
    wind: NotRequired[WindSummary]


class StationQuality(TypedDict):
    """The verdicts on a station in a window, and the comparison with its neighbours."""

    end: str
    """End of the window, included."""
    name: str
    """Its name."""
    start: str
    """Start of the window."""
    stationId: Uuid
    """The station."""
    variables: list[VariableQuality]
    """The variables that it reported in the window, by name."""


class StationSummaries(TypedDict):
    """Summaries of one station."""

    period: str
    """`hour`, `day`, `month` or `window`."""
    periods: list[PeriodSummary]
    """The periods in order."""
    stationId: Uuid
    utcOffset: str
    """Offset of the days from UTC, the same the whole year."""


class AreaSummaries(TypedDict):
    """Summaries of stations for one period."""

    period: str
    """`hour`, `day`, `month` or `window`."""
    stations: dict[str, PeriodSummary]
    """By station id; stations without readings are left out."""
    utcOffset: str
    """Offset of the days from UTC, the same the whole year."""
