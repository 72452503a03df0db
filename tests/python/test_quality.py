"""Quality codes in Python."""

import copy
import pickle

import mesonet
import numpy as np
import pytest
from mesonet import BaseQuality, MesonetError, ReasonQuality

NO_CODE = "{} is not a quality code; allowed are 0 (Suppressed) to 7 (Unknown)"


def test_codes_are_integers_with_names():
    assert BaseQuality.Error < BaseQuality.Doubtful
    assert (int(BaseQuality.Good), str(BaseQuality.Good), f"{BaseQuality.Good}") == (6, "Good", "Good")
    assert BaseQuality("Good") is BaseQuality(6) is BaseQuality.Good
    assert np.array([BaseQuality.Good], np.uint8).tolist() == [6]


def test_the_reason_none_can_be_written():
    assert ReasonQuality.None_ is ReasonQuality["None"] is ReasonQuality("None")
    assert str(ReasonQuality.None_) == "None"


@pytest.mark.parametrize("code", [BaseQuality.Doubtful, ReasonQuality.None_])
def test_codes_survive_copies(code):
    assert pickle.loads(pickle.dumps(code)) is code
    assert copy.deepcopy(code) is code


@pytest.mark.parametrize("got", [8, 255, 256, -1, 10**50])
def test_numbers_that_are_not_codes_are_refused(got):
    for refusing in (BaseQuality, lambda code: mesonet.worst([code])):
        with pytest.raises(MesonetError) as error:
            refusing(got)
        assert str(error.value) == NO_CODE.format(got)


def test_unknown_names_are_refused():
    with pytest.raises(MesonetError, match='^"good" is not a quality name; allowed are Supp'):
        BaseQuality("good")
    with pytest.raises(MesonetError, match='^"Suppressed" is not a quality name; allowed are None'):
        ReasonQuality("Suppressed")


@pytest.mark.parametrize("got", [None, 2.5, True, b"Good"])
def test_values_that_are_neither_are_refused(got):
    with pytest.raises(TypeError, match="^a quality code is an integer or a name; got "):
        mesonet.worst([got])


@pytest.mark.parametrize(
    "codes",
    [
        np.array([6, 3, 7], np.uint8),
        np.array([[6, 3], [7, 7]], np.uint8)[:, ::-1],
        np.array([6, 3]),
        np.array([[6, 3], [7, 7]], np.int16),
        np.array(["Good", "Doubtful"]),
        np.array([["Good"], ["Doubtful"]], object),
        [6, "Doubtful", BaseQuality.Unknown],
        (code for code in (6, 3)),
        {"Good", "Doubtful"},
        b"\x06\x03",
        np.uint8(3),
    ],
)
def test_codes_of_every_kind(codes):
    assert mesonet.worst(codes) is BaseQuality.Doubtful


@pytest.mark.parametrize(
    "codes", [np.array([6.0]), np.array([True]), np.array(["now"], "M8[s]"), "Good", 6, None, [[6]]]
)
def test_wrong_types_are_refused(codes):
    for refusing in (mesonet.worst, mesonet.distinct_worst_first):
        with pytest.raises(TypeError):
            refusing(codes)
