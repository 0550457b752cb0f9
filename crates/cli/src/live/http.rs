//! As much of HTTP/1.1 as one page needs: a request of a browser is read, an answer is written, the connection is closed.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// Longer lines and more headers are no request of a browser to this page.
const LONGEST_LINE: u64 = 8 << 10;
const MOST_HEADERS: usize = 64;
/// More is not asked of a run.
const LONGEST_BODY: usize = 256 << 10;
/// A browser that has connected has so long to ask, and to take in what it is sent.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a browser asks.
#[derive(Clone, Debug, Default)]
pub(super) struct Request {
    pub method: String,
    /// Everything after the host.
    pub target: String,
    headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Request {
    /// Reads one. What is no request is an error.
    pub fn read(stream: &TcpStream) -> io::Result<Self> {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Self::read_from(&mut BufReader::new(stream))
    }

    fn read_from(reader: &mut impl BufRead) -> io::Result<Self> {
        let first = line(reader)?;
        let mut words = first.split(' ');
        let [Some(method), Some(target), Some(version), None] =
            std::array::from_fn(|_| words.next())
        else {
            return Err(bad("no request line"));
        };
        if !version.starts_with("HTTP/1.") {
            return Err(bad("another protocol"));
        }
        let mut request = Self {
            method: method.to_owned(),
            target: target.to_owned(),
            ..Self::default()
        };
        request.read_headers(reader)?;
        request.read_body(reader)?;
        Ok(request)
    }

    fn read_headers(&mut self, reader: &mut impl BufRead) -> io::Result<()> {
        loop {
            let header = line(reader)?;
            if header.is_empty() {
                return Ok(());
            }
            let (name, value) = header.split_once(':').ok_or_else(|| bad("no header"))?;
            if self.headers.len() == MOST_HEADERS {
                return Err(bad("too many headers"));
            }
            let entry = (name.to_ascii_lowercase(), value.trim().to_owned());
            self.headers.push(entry);
        }
    }

    fn read_body(&mut self, reader: &mut impl BufRead) -> io::Result<()> {
        let length: usize = match self.header("content-length") {
            Ok(Some(length)) => length.parse().map_err(|_| bad("no length"))?,
            Ok(None) => 0,
            Err(Repeated) => return Err(bad("two lengths")),
        };
        if length > LONGEST_BODY {
            return Err(bad("too long"));
        }
        self.body = vec![0; length];
        reader.read_exact(&mut self.body)
    }

    /// The value of a header, by its name in lower case.
    pub fn header(&self, name: &str) -> Result<Option<&str>, Repeated> {
        let mut values = self.headers.iter().filter(|(known, _)| known == name);
        let first = values.next().map(|(_, value)| value.as_str());
        match values.next() {
            Some(_) => Err(Repeated),
            None => Ok(first),
        }
    }
}

/// A header that should be there once is there twice: whom to believe is not for us to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Repeated;

fn line(reader: &mut impl BufRead) -> io::Result<String> {
    let mut line = Vec::new();
    reader.take(LONGEST_LINE).read_until(b'\n', &mut line)?;
    let line = line
        .strip_suffix(b"\n")
        .ok_or_else(|| bad("no end of a line"))?;
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    String::from_utf8(line.to_vec()).map_err(|_| bad("no text"))
}

fn bad(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// What a browser is told besides: to show this in no frame, to keep nothing, and to name the address to nobody.
const HEADERS: &str = "Cache-Control: no-store\r\n\
    Content-Security-Policy: frame-ancestors 'none'\r\n\
    Cross-Origin-Opener-Policy: same-origin\r\n\
    Cross-Origin-Resource-Policy: same-origin\r\n\
    Referrer-Policy: no-referrer\r\n\
    X-Content-Type-Options: nosniff\r\n\
    X-Frame-Options: DENY\r\n\
    Connection: close\r\n";

/// An answer as a whole.
pub(super) fn answer(
    mut stream: &TcpStream,
    status: &str,
    content_type: &str,
    body: &[u8],
) -> io::Result<()> {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\n{HEADERS}\r\n"
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body)?;
    stream.flush()
}

/// The head of a stream of events, which goes on until one side leaves.
pub(super) fn begin_events(mut stream: &TcpStream) -> io::Result<()> {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n{HEADERS}\r\n");
    stream.write_all(head.as_bytes())
}

/// One event; its data are one line.
pub(super) fn event(mut stream: &TcpStream, name: &str, data: &str) -> io::Result<()> {
    stream.write_all(format!("event: {name}\ndata: {data}\n\n").as_bytes())
}

/// Nothing, to find out whether anyone listens.
pub(super) fn silence(mut stream: &TcpStream) -> io::Result<()> {
    stream.write_all(b":\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> io::Result<Request> {
        Request::read_from(&mut text.as_bytes())
    }

    #[test]
    fn a_request_is_read_with_its_headers_and_body() {
        let text = "POST /s/run HTTP/1.1\r\nHOST: a:1\r\nContent-Length: 2\r\n\r\n{}rest";
        let request = read(text).expect("a request");
        assert_eq!(
            (request.method.as_str(), request.target.as_str()),
            ("POST", "/s/run")
        );
        assert_eq!(request.header("host"), Ok(Some("a:1")));
        assert_eq!(request.header("origin"), Ok(None));
        assert_eq!(request.body, b"{}");
    }

    #[test]
    fn what_is_no_request_is_refused() {
        for text in [
            "",
            "GET /\r\n\r\n",
            "GET / SPDY/3\r\n\r\n",
            "GET / HTTP/1.1\r\nno header\r\n\r\n",
            "GET / HTTP/1.1\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        ] {
            assert!(read(text).is_err(), "{text:?}");
        }
        let endless = format!("GET /{} HTTP/1.1\r\n\r\n", "a".repeat(1 << 20));
        assert!(read(&endless).is_err());
    }

    #[test]
    fn a_header_that_is_there_twice_is_not_believed() {
        let request = read("GET / HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n").expect("a request");
        assert_eq!(request.header("host"), Err(Repeated));
    }
}
