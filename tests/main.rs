//! The integration tests of the whole program, as one binary: it links once.

// Integration tests are only ever built for testing; saying so gives their helpers the lint
// exceptions that tests have.
#[cfg(test)]
mod cli;
#[cfg(test)]
mod crash;
#[cfg(test)]
mod examples;
#[cfg(test)]
mod guide;
#[cfg(test)]
mod imported;
#[cfg(test)]
mod journals;
#[cfg(test)]
mod served;
#[cfg(test)]
mod support;
#[cfg(test)]
mod tidy;
#[cfg(test)]
mod walk;
#[cfg(test)]
mod world;
