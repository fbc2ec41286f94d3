package intl

// This file is what no rule gives: the years and months of calendars that follow the sky.

// notLeap are the years of the Persian calendar that the cycle of 33 years makes leap and the
// equinox does not: the next one is, up to the year 3000.
var notLeap = []int{ //nolint:gochecknoglobals // a table
	1502, 1601, 1634, 1667, 1700, 1733, 1766, 1799, 1832, 1865, 1898, 1931, 1964, 1997, 2030, 2059, 2063, 2096, 2129, 2158,
	2162, 2191, 2195, 2224, 2228, 2257, 2261, 2290, 2294, 2323, 2327, 2356, 2360, 2389, 2393, 2422, 2426, 2455, 2459, 2488,
	2492, 2521, 2525, 2554, 2558, 2587, 2591, 2620, 2624, 2653, 2657, 2686, 2690, 2719, 2723, 2748, 2752, 2756, 2781, 2785,
	2789, 2818, 2822, 2847, 2851, 2855, 2880, 2884, 2888, 2913, 2917, 2921, 2946, 2950, 2954, 2979, 2983, 2987,
}

// ummAlQuraYears are the years 1300 to 1600 of the calendar of Umm al-Qura, as ICU has them
// of the tables of King Abdulaziz City for Science and Technology: three hexadecimal digits
// each, in which a bit, the first month's first, says that the month has thirty days.
const ummAlQuraYears = "" +
	"aaad54ec96d46ea36caad5556a9792ba95d4ada55cd2d69574ab54b6a5ad4aea4f51768b6a5ad52d695b49da4dd26d955ac9b62baa5b52ba956caae9" +
	"2f49762b6956acaba4bd25d92dc96d54daa5b52ba55b49b655729754b6a3752b6556aaab52bc95d4ada55caad69574ab94baa5b52b6a5752768b745b" +
	"5555a95b49da4dd26e936aaad54db25d52da95b4aba55b49b64b715b4ab5a55d25e92ec96d4ae996b4aba93d49da4db2ab94baa5b52ba95b2ab5555c" +
	"4bd23d91da95b4ab5a56d2b693b49b6556a9754b6a56caad555b29b92ba95d4ada55aaab595749764baa5b52b6a56e4db25b52b6a5ad2ae92f49764b" +
	"6a56acad655d49da4dd16d955aa5b52da95b4ad5956ca6e4aea4f52b6956aaab54bd25d92ea96d4ada95b4aba55b29b54d6a97547693749b5556aa6b" +
	"52ba8bd46da35caad64db26b94baa5b52b695751768b725b52b5655b49da4ed16d8b6aa6d52da95d4ada95b4ab653729762ba95b2ab5555b25d92ec9" +
	"6d2ae956b4aba55d29d54daa9b54baa3b49ba4daaaad52da95d45ea2ec9ad556b26b94baa5d52da95b52ba8bb45b92da95ab4ada4ed16e8b6a56d535" +
	"695d4ada8dd46da55b29d62bb15b4ab955aaaae92ec8f5276956aaad655d29d"
