//! Liveliness tokens: what makes the ROS graph.

use std::fmt;

use rostrans_core::topic::Qos;
use thiserror::Error;

use super::qos;

/// What a token stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A node.
    Node,
    /// A publisher.
    Publisher,
    /// A subscription.
    Subscription,
    /// A service server.
    Server,
    /// A service client.
    Client,
}

const KINDS: [(&str, Kind); 5] = [
    ("NN", Kind::Node),
    ("MP", Kind::Publisher),
    ("MS", Kind::Subscription),
    ("SS", Kind::Server),
    ("SC", Kind::Client),
];

impl Kind {
    /// As in a key.
    pub fn word(self) -> &'static str {
        KINDS.iter().find(|(_, kind)| *kind == self).map_or("NN", |(word, _)| word)
    }

    fn from_word(word: &str) -> Option<Self> {
        KINDS.iter().find(|(known, _)| *known == word).map(|(_, kind)| *kind)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Node => "node",
            Self::Publisher => "publisher",
            Self::Subscription => "subscription",
            Self::Server => "service",
            Self::Client => "client",
        })
    }
}

/// One node, or one endpoint of a node, that is alive while its token is.
///
/// **Layout** of the key, parts separated by `/`:
///
/// ```text
/// @ros2_lv/<domain>/<session>/<node id>/<entity id>/<kind>/<enclave>/<namespace>/<node>
/// ```
///
/// and for endpoints `/<name>/<type>/<hash>/<qos>`, with perhaps one more part that says which special buffers it
/// understands. A `/` inside a part is `%`, and an empty enclave or namespace is `%`. A node repeats its id as entity id.
///
/// Source: `rmw_zenoh_cpp/src/detail/liveliness_utils.cpp`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// `ROS_DOMAIN_ID`.
    pub domain: u32,
    /// Id of the Zenoh session, in hex.
    pub session: String,
    /// Which node of the session.
    pub node_id: u64,
    /// Which entity of the session.
    pub entity_id: u64,
    /// What it is.
    pub kind: Kind,
    /// Security enclave, `/` for none.
    pub enclave: String,
    /// Namespace of the node, `/` or `/robot_1`.
    pub namespace: String,
    /// Name of the node.
    pub node: String,
    /// The rest of an endpoint's token; `None` for nodes alone.
    pub endpoint: Option<Endpoint>,
}

/// The part of a token that only endpoints have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Topic or service, with a leading `/`.
    pub name: String,
    /// As in DDS, `std_msgs::msg::dds_::String_`.
    pub type_name: String,
    /// `RIHS01_` and 64 digits, or [`NO_HASH`](super::NO_HASH).
    pub hash: String,
    /// What it offers or requests.
    pub qos: Qos,
}

/// Why a liveliness key is no token.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum TokenError {
    /// Longer than any ROS node makes it.
    #[error("{0} bytes long")]
    TooLong(usize),
    /// Fewer parts than a token has.
    #[error("ends before the {0}")]
    Ends(&'static str),
    /// A part that is not what should be there.
    #[error("invalid {0}")]
    Invalid(&'static str),
}

/// Names of ROS are 255 bytes at most; this is a session, four of them, a hash and numbers.
const MAX_LEN: usize = 2048;
const PREFIX: &str = "@ros2_lv";

/// The key expression of all tokens of a domain.
pub fn domain_tokens(domain: u16) -> String {
    format!("{PREFIX}/{domain}/**")
}

impl Token {
    /// Its liveliness key.
    pub fn to_key(&self) -> String {
        let Self { domain, session, node_id, entity_id, kind, enclave, namespace, node, endpoint } = self;
        let mut key = format!(
            "{PREFIX}/{domain}/{session}/{node_id}/{entity_id}/{}/{}/{}/{}",
            kind.word(),
            mangled(enclave),
            mangled(namespace),
            mangled(node)
        );
        if let Some(Endpoint { name, type_name, hash, qos }) = endpoint {
            key = format!("{key}/{}/{type_name}/{hash}/{}", mangled(name), qos::write(*qos));
        }
        key
    }

    /// Reads a liveliness key.
    ///
    /// **Errors**: [`TokenError`] says which part is wrong.
    pub fn parse(key: &str) -> Result<Self, TokenError> {
        if key.len() > MAX_LEN {
            return Err(TokenError::TooLong(key.len()));
        }
        let mut parts = key.split('/');
        let mut part = |what| parts.next().filter(|part| !part.is_empty()).ok_or(TokenError::Ends(what));
        if part("prefix")? != PREFIX {
            return Err(TokenError::Invalid("prefix"));
        }
        let domain = number(part("domain")?, "domain")?;
        let session = part("session")?;
        if !session.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(TokenError::Invalid("session"));
        }
        let node_id = number(part("node id")?, "node id")?;
        let entity_id = number(part("entity id")?, "entity id")?;
        let kind = Kind::from_word(part("kind")?).ok_or(TokenError::Invalid("kind"))?;
        let enclave = demangled(part("enclave")?);
        let namespace = demangled(part("namespace")?);
        let node = demangled(part("node name")?);
        let endpoint = if kind == Kind::Node {
            None
        } else {
            let name = demangled(part("topic")?);
            let (type_name, hash) = (part("type")?.to_owned(), part("type hash")?.to_owned());
            let qos = qos::parse(part("QoS")?).ok_or(TokenError::Invalid("QoS"))?;
            Some(Endpoint { name, type_name, hash, qos })
        };
        // Parts of later versions may follow.
        let session = session.to_owned();
        Ok(Self { domain, session, node_id, entity_id, kind, enclave, namespace, node, endpoint })
    }

    /// Namespace and name of the node as one.
    pub fn node_name(&self) -> String {
        format!("{}/{}", self.namespace.trim_end_matches('/'), self.node)
    }
}

fn number<T: std::str::FromStr>(text: &str, what: &'static str) -> Result<T, TokenError> {
    text.parse().map_err(|_| TokenError::Invalid(what))
}

fn mangled(part: &str) -> String {
    if part.is_empty() { "%".to_owned() } else { part.replace('/', "%") }
}

fn demangled(part: &str) -> String {
    part.replace('%', "/")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NODE: &str = "@ros2_lv/7/a1b2/3/3/NN/%/%robot_1/talker";
    const PUBLISHER: &str = "@ros2_lv/7/a1b2/3/4/MP/%/%robot_1/talker/%chatter/std_msgs::msg::dds_::String_/RIHS01_x/2:1:,5:,:,:,,";

    #[test]
    fn node_is_read_and_written() {
        let node = Token::parse(NODE).unwrap();
        assert_eq!((node.domain, node.node_id, node.entity_id, node.kind), (7, 3, 3, Kind::Node));
        assert_eq!((node.session.as_str(), node.enclave.as_str()), ("a1b2", "/"));
        assert_eq!(node.node_name(), "/robot_1/talker");
        assert_eq!(node.to_key(), NODE);
        let global = Token { namespace: String::new(), ..node };
        assert_eq!(global.node_name(), "/talker");
        assert_eq!(global.to_key(), "@ros2_lv/7/a1b2/3/3/NN/%/%/talker");
    }

    #[test]
    fn endpoints_are_read_and_written() {
        let publisher = Token::parse(PUBLISHER).unwrap();
        assert_eq!((publisher.kind, publisher.entity_id), (Kind::Publisher, 4));
        let endpoint = publisher.endpoint.clone().unwrap();
        assert_eq!((endpoint.name.as_str(), endpoint.hash.as_str()), ("/chatter", "RIHS01_x"));
        assert_eq!(endpoint.type_name, "std_msgs::msg::dds_::String_");
        assert_eq!(endpoint.qos, qos::parse("2:1:,5:,:,:,,").unwrap());
        assert_eq!(publisher.to_key(), PUBLISHER);
        for (word, kind) in [("MS", Kind::Subscription), ("SS", Kind::Server), ("SC", Kind::Client)] {
            let key = PUBLISHER.replace("/MP/", &format!("/{word}/"));
            assert_eq!(Token::parse(&key).unwrap().kind, kind);
        }
    }

    #[test]
    fn parts_of_later_versions_are_passed_over() {
        let later = Token::parse(&format!("{PUBLISHER}/cpu,cuda"));
        assert_eq!(later, Token::parse(PUBLISHER));
    }

    #[test]
    fn what_is_no_token_is_refused_by_its_part() {
        for (key, error) in [
            ("".to_owned(), TokenError::Ends("prefix")),
            (NODE.replace("@ros2_lv", "@ros3"), TokenError::Invalid("prefix")),
            (NODE.replace("/7/", "/x/"), TokenError::Invalid("domain")),
            (NODE.replace("/7/", "/-1/"), TokenError::Invalid("domain")),
            (NODE.replace("a1b2", "a1g2"), TokenError::Invalid("session")),
            (NODE.replace("/3/3/", "/n/3/"), TokenError::Invalid("node id")),
            (NODE.replace("/3/3/", "/3/e/"), TokenError::Invalid("entity id")),
            (NODE.replace("NN", "XX"), TokenError::Invalid("kind")),
            (NODE.replace("/talker", ""), TokenError::Ends("node name")),
            (NODE.replace("NN", "MP"), TokenError::Ends("topic")),
            (PUBLISHER.replace(",5:", ",-5:"), TokenError::Invalid("QoS")),
            (PUBLISHER.replace("/2:1:,5:,:,:,,", ""), TokenError::Ends("QoS")),
            (format!("{NODE}{}", "x".repeat(3000)), TokenError::TooLong(NODE.len() + 3000)),
        ] {
            assert_eq!(Token::parse(&key), Err(error), "{key}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(key in "@ros2_lv/[0-9]{1,3}/[0-9a-f]{1,4}/[0-9]/[0-9]/(NN|MP|MS|SS|SC)(/[%a-z:0-9,]{1,12}){1,8}") {
            crate::fuzzing::token(&key);
        }

        #[test]
        fn any_characters_are_refused(key in ".{0,200}") {
            crate::fuzzing::token(&key);
        }
    }
}
