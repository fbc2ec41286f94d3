package workerd

// visitor is request.cf as in the built-in engine, without the id of the request.
const visitor = `{"asOrganization":"Example Network","asn":64496,"colo":"SFO","continent":"NA","country":"US",` +
	`"region":"California","regionCode":"CA","city":"San Francisco","postalCode":"94107","latitude":"37.77490",` +
	`"longitude":"-122.41940","timezone":"America/Los_Angeles","httpProtocol":"HTTP/1.1","tlsVersion":"TLSv1.3",` +
	`"tlsCipher":"AEAD-AES128-GCM-SHA256","clientTcpRtt":1}`
