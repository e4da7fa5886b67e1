"""Cities of the continental United States with their coordinates: public facts, to about 0.05 degrees.

Two names that stand for one built-up area are a few kilometres apart, as they are.
"""

from __future__ import annotations

import numpy as np

from lowfold._core.types import Floats
from lowfold.datasets._types import Dataset

# name, latitude north, longitude west
_TABLE = """
New York,40.71,74.01|Los Angeles,34.05,118.24|Chicago,41.88,87.63|Houston,29.76,95.37|Phoenix,33.45,112.07
Philadelphia,39.95,75.17|San Antonio,29.42,98.49|San Diego,32.72,117.16|Dallas,32.78,96.80|San Jose,37.34,121.89
Austin,30.27,97.74|Jacksonville,30.33,81.66|Fort Worth,32.76,97.33|Columbus OH,39.96,83.00|Charlotte,35.23,80.84
San Francisco,37.77,122.42|Indianapolis,39.77,86.16|Seattle,47.61,122.33|Denver,39.74,104.99|Washington,38.91,77.04
Boston,42.36,71.06|El Paso,31.76,106.49|Nashville,36.16,86.78|Detroit,42.33,83.05|Oklahoma City,35.47,97.52
Portland OR,45.52,122.68|Las Vegas,36.17,115.14|Memphis,35.15,90.05|Louisville,38.25,85.76|Baltimore,39.29,76.61
Milwaukee,43.04,87.91|Albuquerque,35.08,106.65|Tucson,32.22,110.97|Fresno,36.74,119.79|Sacramento,38.58,121.49
Kansas City,39.10,94.58|Atlanta,33.75,84.39|Omaha,41.26,95.93|Colorado Springs,38.83,104.82|Raleigh,35.78,78.64
Miami,25.76,80.19|Virginia Beach,36.85,75.98|Minneapolis,44.98,93.27|Tulsa,36.15,95.99|Tampa,27.95,82.46
New Orleans,29.95,90.07|Wichita,37.69,97.34|Cleveland,41.50,81.69|Bakersfield,35.37,119.02|Corpus Christi,27.80,97.40
Lexington,38.04,84.50|Stockton,37.96,121.29|St. Louis,38.63,90.20|Pittsburgh,40.44,80.00|Cincinnati,39.10,84.51
Greensboro,36.07,79.79|Lincoln,40.81,96.70|Orlando,28.54,81.38|Buffalo,42.89,78.88|Lubbock,33.58,101.86
Reno,39.53,119.81|Fort Wayne,41.08,85.14|St. Petersburg,27.77,82.64|Laredo,27.51,99.51|Norfolk,36.85,76.29
Madison,43.07,89.40|Boise,43.62,116.20|Richmond,37.54,77.44|Baton Rouge,30.45,91.19|Spokane,47.66,117.43
Des Moines,41.59,93.62|Birmingham,33.52,86.80|Rochester NY,43.16,77.61|Modesto,37.64,120.99
Fayetteville NC,35.05,78.88|Tacoma,47.25,122.44|Shreveport,32.53,93.75|Montgomery,32.37,86.30|Little Rock,34.75,92.29
Akron,41.08,81.52|Augusta GA,33.47,81.97|Grand Rapids,42.96,85.67|Mobile,30.69,88.04|Salt Lake City,40.76,111.89
Huntsville,34.73,86.59|Amarillo,35.20,101.83|Knoxville,35.96,83.92|Worcester,42.26,71.80|Brownsville,25.90,97.50
Providence,41.82,71.41|Chattanooga,35.05,85.31|Sioux Falls,43.55,96.73|Springfield MO,37.21,93.29
Fort Collins,40.59,105.08|Eugene,44.05,123.09|Salem OR,44.94,123.04|Springfield MA,42.10,72.59|Savannah,32.08,81.09
Jackson MS,32.30,90.18|Syracuse,43.05,76.15|Tallahassee,30.44,84.28|Dayton,39.76,84.19|Topeka,39.05,95.68
Cedar Rapids,41.98,91.67|Columbia SC,34.00,81.03|Charleston SC,32.78,79.93|Evansville,37.97,87.57
Billings,45.78,108.50|Peoria IL,40.69,89.59|Springfield IL,39.78,89.65|Lansing,42.73,84.56|Ann Arbor,42.28,83.74
Green Bay,44.51,88.01|Duluth,46.79,92.10|Fargo,46.88,96.79|Bismarck,46.81,100.78|Rapid City,44.08,103.23
Cheyenne,41.14,104.82|Casper,42.87,106.31|Missoula,46.87,113.99|Great Falls,47.50,111.30|Helena,46.59,112.04
Bozeman,45.68,111.04|Idaho Falls,43.49,112.03|Pocatello,42.87,112.45|Twin Falls,42.56,114.46|Yakima,46.60,120.51
Bellingham,48.75,122.48|Bend,44.06,121.31|Medford,42.33,122.88|Redding,40.59,122.39|Santa Barbara,34.42,119.70
San Luis Obispo,35.28,120.66|Yuma,32.69,114.62|Flagstaff,35.20,111.65|Santa Fe,35.69,105.94|Las Cruces,32.32,106.77
Roswell,33.39,104.52|Midland TX,32.00,102.08|Abilene,32.45,99.73|Waco,31.55,97.15|Wichita Falls,33.91,98.49
San Angelo,31.46,100.44|Beaumont,30.08,94.10|Tyler,32.35,95.30|Texarkana,33.43,94.05|Lafayette LA,30.22,92.02
Monroe LA,32.51,92.12|Fort Smith,35.39,94.40|Joplin,37.08,94.51|Columbia MO,38.95,92.33|Davenport,41.52,90.58
Sioux City,42.50,96.40|Grand Island,40.92,98.34|North Platte,41.12,100.77|Grand Junction,39.06,108.55
Pueblo,38.25,104.61|Provo,40.23,111.66|St. George,37.10,113.58|Elko,40.83,115.76|Salina,38.84,97.61
Dodge City,37.75,100.02|Hays,38.88,99.33|Minot,48.23,101.30|Grand Forks,47.93,97.03|Pierre,44.37,100.35
Aberdeen SD,45.46,98.49|Sheridan,44.80,106.96|Williston,48.15,103.62|Miles City,46.41,105.84|La Crosse,43.80,91.24
Rochester MN,44.02,92.47|Eau Claire,44.81,91.50|Marquette,46.54,87.40|Traverse City,44.76,85.62|South Bend,41.68,86.25
Toledo,41.65,83.54|Erie,42.13,80.09|Scranton,41.41,75.66|Harrisburg,40.27,76.88|Albany,42.65,73.76
Burlington VT,44.48,73.21|Portland ME,43.66,70.26|Bangor,44.80,68.77|Manchester NH,43.00,71.45|Hartford,41.77,72.67
New Haven,41.31,72.93|Trenton,40.22,74.76|Wilmington DE,39.75,75.55|Charleston WV,38.35,81.63|Roanoke,37.27,79.94
Asheville,35.60,82.55|Wilmington NC,34.23,77.94|Greenville SC,34.85,82.40|Macon,32.84,83.63|Columbus GA,32.46,84.99
Pensacola,30.42,87.22|Gainesville FL,29.65,82.32|Fort Myers,26.64,81.87|Daytona Beach,29.21,81.02
Hattiesburg,31.33,89.29|Tupelo,34.26,88.70|Jonesboro AR,35.84,90.70|Paducah,37.08,88.60|Bowling Green,36.99,86.44
"""

EARTH_RADIUS_KM = 6371.0


def us_cities() -> Dataset:
    """Cities of the continental United States in the plane, in kilometres: the ground truth of sensor localisation.

    X is Albers' equal-area conic projection with standard parallels 29.5 and 45.5 north (east, north), `parameters` are
    latitude and longitude in degrees, and `city_names()` gives the names in the same order. Wang (2012), Section 9.3
    uses 1055 cities; these are some two hundred, larger ones and, where the map would be empty, smaller ones.

    >>> cities = us_cities()
    >>> cities.X.shape[1], len(cities) == len(city_names())
    (2, True)
    """
    place = np.array([[float(lat), -float(west)] for _, lat, west in _entries()])
    X = albers(place)
    return Dataset(name="us_cities", X=X, parameters=place, color=place[:, 1], intrinsic_dim=2, coordinates=X)


def city_names() -> list[str]:
    """Names in the order of `us_cities`."""
    return [name for name, _, _ in _entries()]


def _entries() -> list[list[str]]:
    return [entry.split(",") for line in _TABLE.strip().splitlines() for entry in line.split("|")]


def albers(place: Floats) -> Floats:
    """Albers' equal-area conic of (latitude, longitude) in degrees about 37.5 N, 96 W; kilometres (east, north)."""
    lat, lon = np.radians(place).T
    first, second = np.radians([29.5, 45.5])
    n = (np.sin(first) + np.sin(second)) / 2
    c = np.cos(first) ** 2 + 2 * n * np.sin(first)
    rho = np.sqrt(c - 2 * n * np.sin(lat)) / n
    centre = np.sqrt(c - 2 * n * np.sin(np.radians(37.5))) / n
    theta = n * (lon - np.radians(-96.0))
    return np.asarray(EARTH_RADIUS_KM * np.column_stack([rho * np.sin(theta), centre - rho * np.cos(theta)]))
