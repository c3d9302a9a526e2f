//! The server's certificate: read once, judged before anybody connects, and nothing but that.

use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{InconsistentKeys, ServerConfig};

/// Who the server is to those who connect over TLS.
#[derive(Debug, Clone)]
pub struct Identity(pub(super) Arc<ServerConfig>);

/// Why a certificate and a key are of no use.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// The file of certificates is invalid.
    #[error("the certificate cannot be read: {0}")]
    Certificate(rustls::pki_types::pem::Error),
    /// It holds nothing.
    #[error("there is no certificate in the file")]
    NoCertificate,
    /// The file of the key is invalid.
    #[error("the key cannot be read: {0}")]
    Key(rustls::pki_types::pem::Error),
    /// They do not belong together.
    #[error("the key is not the key of the certificate")]
    KeyOfAnother,
    /// TLS refuses them.
    #[error("{0}")]
    Refused(rustls::Error),
}

impl Identity {
    /// Reads a chain of certificates, the server's own first, and its private key, both as PEM.
    ///
    /// # Errors
    /// Says which of the two is of no use, and why.
    pub fn read(certificates: &[u8], key: &[u8]) -> Result<Self, TlsError> {
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(certificates).collect();
        let chain = chain.map_err(TlsError::Certificate)?;
        if chain.is_empty() {
            return Err(TlsError::NoCertificate);
        }
        let key = PrivateKeyDer::from_pem_slice(key).map_err(TlsError::Key)?;
        let provider = Arc::new(ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(TlsError::Refused)?
            .with_no_client_auth()
            .with_single_cert(chain, key);
        let mut config = config.map_err(|error| {
            if error == rustls::Error::InconsistentKeys(InconsistentKeys::KeyMismatch) {
                TlsError::KeyOfAnother
            } else {
                TlsError::Refused(error)
            }
        })?;
        // Sockets are upgraded from it, which no later version of HTTP does so.
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self(Arc::new(config)))
    }
}
