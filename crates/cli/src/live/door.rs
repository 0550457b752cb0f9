//! Who is let in: a browser on this machine that was given the address, and a page that came from there.

use std::fs::File;
use std::io::{self, Read};

use super::http::{Repeated, Request};

/// So many bytes nobody guesses.
const SECRET_BYTES: usize = 16;

/// The address at which a page is served.
#[derive(Clone, Debug)]
pub(super) struct Door {
    port: u16,
    secret: String,
}

/// Why someone is not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// It came by another name, or from another page.
    Stranger,
    /// It does not know the secret.
    NothingHere,
}

impl Door {
    /// With a new secret.
    pub fn new(port: u16) -> io::Result<Self> {
        let mut bytes = [0; SECRET_BYTES];
        File::open("/dev/urandom")?.read_exact(&mut bytes)?;
        let digits = bytes.iter().map(|byte| format!("{byte:02x}"));
        Ok(Self {
            port,
            secret: digits.collect(),
        })
    }

    /// For the user.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/{}/", self.port, self.secret)
    }

    /// What is asked for behind the secret.
    ///
    /// Whatever name a foreign page gives to 127.0.0.1, its browser sends that name as the host; and with what a foreign page asks
    /// for it sends where that page is from.
    pub fn enter<'a>(&self, request: &'a Request) -> Result<&'a str, Refused> {
        if !self.is_called_by_name(request) {
            return Err(Refused::Stranger);
        }
        let rest = request.target.strip_prefix('/');
        let (secret, rest) = rest
            .and_then(|rest| rest.split_once('/'))
            .ok_or(Refused::NothingHere)?;
        if !is_same(secret, &self.secret) {
            return Err(Refused::NothingHere);
        }
        if !is_from_here(request, rest) {
            return Err(Refused::Stranger);
        }
        Ok(rest)
    }

    fn is_called_by_name(&self, request: &Request) -> bool {
        let names = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{}", self.port));
        let host = request.header("host");
        matches!(host, Ok(Some(host)) if names.iter().any(|name| name == host))
    }
}

/// Whether the page that asks, where one does, came from here: from the host that the request names.
fn is_from_here(request: &Request, asked: &str) -> bool {
    let Ok(Some(host)) = request.header("host") else {
        return false;
    };
    let from_here = match request.header("origin") {
        Ok(origin) => origin.is_none_or(|origin| origin == format!("http://{host}")),
        Err(Repeated) => false,
    };
    // The page itself may be opened from anywhere by whoever knows its address: a link in a mail, say.
    let is_page = asked.is_empty() && request.method == "GET";
    let same_site = match request.header("sec-fetch-site") {
        Ok(site) => is_page || site.is_none_or(|site| matches!(site, "same-origin" | "none")),
        Err(Repeated) => false,
    };
    from_here && same_site
}

/// Compares in a time that does not depend on where texts differ.
fn is_same(one: &str, other: &str) -> bool {
    let pairs = one.bytes().zip(other.bytes());
    let differing = pairs.fold(0, |differing, (a, b)| differing | (a ^ b));
    one.len() == other.len() && differing == 0
}
