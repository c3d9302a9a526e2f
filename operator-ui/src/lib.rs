//! Shows it: protocol, server and the embedded page.
