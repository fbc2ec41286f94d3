package intl

import "math"

// This file computes the Islamic calendar by the moon: a month begins on the day after the new moon. The positions of sun and
// moon follow P. Duffett-Smith, "Practical Astronomy with your Calculator", sections 46 and 65, with ICU's constants of 1990,
// so that months begin on ICU's days.

const (
	synodicMonth = 29.530588853
	hijraMillis  = -42521587200000.0 // July 16, 622 of the Julian calendar
	dayMillis    = 86400000.0
)

// islamicByMoon finds the last month that began before the day.
func islamicByMoon(days int) calendarDate {
	n := days + hijra
	month := int(math.Floor(float64(n)/synodicMonth)) + 1
	for newMoonDay(month) > n {
		month--
	}
	return calendarDate{year: floorDiv(month, 12) + 1, month: floorMod(month, 12) + 1, day: n - newMoonDay(month) + 1}
}

// newMoonDay is the first day of a month, both counted since the hijra. It searches day by day from the mean new moon.
func newMoonDay(month int) int {
	at := hijraMillis + math.Floor(float64(month)*synodicMonth)*dayMillis
	step, waxing := dayMillis, moonAge(at) >= 0
	if waxing {
		step = -dayMillis
	}
	for (moonAge(at) >= 0) == waxing {
		at += step
	}
	return int(math.Floor((at-hijraMillis)/dayMillis)) + 1
}

const degree = math.Pi / 180

// turn is an angle within a full turn.
func turn(angle float64) float64 {
	return angle - 2*math.Pi*math.Floor(angle/(2*math.Pi))
}

// moonAge is how far the moon is from the sun along the ecliptic, in degrees: negative for a waning one.
func moonAge(millis float64) float64 {
	day := millis/dayMillis + 2440587.5 - 2447891.5 // since the last day of 1989
	anomaly, sun := sunPosition(day)
	age := turn(moonPosition(day, anomaly, sun)-sun) / degree
	if age > 180 {
		age -= 360
	}
	return age
}

// sunPosition is the sun's mean anomaly and its longitude.
func sunPosition(day float64) (anomaly, longitude float64) {
	const (
		atEpoch      = 279.403303 * degree
		perigee      = 282.768422 * degree
		eccentricity = 0.016713
		year         = 365.242191
	)
	anomaly = turn(turn(2*math.Pi/year*day) + atEpoch - perigee)
	eccentric := anomaly
	for {
		delta := eccentric - eccentricity*math.Sin(eccentric) - anomaly
		eccentric -= delta / (1 - eccentricity*math.Cos(eccentric))
		if math.Abs(delta) <= 1e-5 {
			break
		}
	}
	trueAnomaly := 2 * math.Atan(math.Tan(eccentric/2)*math.Sqrt((1+eccentricity)/(1-eccentricity)))
	return anomaly, turn(trueAnomaly + perigee)
}

// moonPosition is the moon's longitude on the ecliptic.
func moonPosition(day, sunAnomaly, sun float64) float64 {
	const (
		atEpoch     = 318.351648 * degree
		perigee     = 36.340410 * degree
		node        = 318.510107 * degree
		inclination = 5.145366 * degree
	)
	mean := turn(13.1763966*degree*day + atEpoch)
	anomaly := turn(mean - 0.1114041*degree*day - perigee)
	evection := 1.2739 * degree * math.Sin(2*(mean-sun)-anomaly)
	annual := 0.1858 * degree * math.Sin(sunAnomaly)
	anomaly += evection - annual - 0.3700*degree*math.Sin(sunAnomaly)
	longitude := mean + evection + 6.2886*degree*math.Sin(anomaly) - annual + 0.2140*degree*math.Sin(2*anomaly)
	longitude += 0.6583 * degree * math.Sin(2*(longitude-sun))
	ascending := turn(node-0.0529539*degree*day) - 0.16*degree*math.Sin(sunAnomaly)
	return math.Atan2(math.Sin(longitude-ascending)*math.Cos(inclination), math.Cos(longitude-ascending)) + ascending
}
