import PostalMime from "postal-mime";

const message = [
  "From: =?utf-8?Q?J=C3=A4ne?= <jane@example.com>", "To: Bob <bob@example.com>, team: a@example.com, b@example.com;", "Subject: =?UTF-8?B?R3LDvMOfZSDim7U=?=",
  "Date: Thu, 29 Feb 2024 13:05:09 +0100", "Message-ID: <1@example.com>", "MIME-Version: 1.0", 'Content-Type: multipart/mixed; boundary="b1"', "",
  "--b1", 'Content-Type: multipart/alternative; boundary="b2"', "", "--b2", "Content-Type: text/plain; charset=iso-8859-1", "Content-Transfer-Encoding: quoted-printable", "",
  "Sch=F6ne Gr=FC=DFe, soft=", " break", "--b2", "Content-Type: text/html; charset=utf-8", "", "<p>Schöne Grüße</p>", "--b2--",
  "--b1", 'Content-Type: application/octet-stream; name="a.bin"', "Content-Transfer-Encoding: base64", "Content-Disposition: attachment; filename*=utf-8''gr%C3%BC%C3%9Fe.bin", "", "AAEC/w==", "--b1--", "",
].join("\r\n");

/** https://github.com/postalsys/postal-mime#readme */
export async function mail() {
  const email = await PostalMime.parse(message);
  const streamed = await PostalMime.parse(new Response(message).body!);
  return {
    from: email.from, to: email.to, subject: email.subject, date: email.date, text: email.text, html: email.html,
    attachments: email.attachments.map((a) => [a.filename, a.mimeType, a.disposition, [...new Uint8Array(a.content as ArrayBuffer)]]), streamed: streamed.text === email.text,
    headers: email.headers.length,
  };
}
