//! The index as a database: which words are in which message, and where in a journal the message is.
//!
//! Words are kept as they are compared, without the texts they come from: those are in the journals, and are read
//! there. `SQLite` opens its files by itself and not through the disk port. Nothing depends on them, so that a fault of
//! theirs costs a rebuild, and a fault of the disk a search that reads the journals.

use std::path::Path;
use std::time::Duration;

use a_society_facts::id::{ProjectName, RoleInstance, Seq, TurnId};
use rusqlite::{Connection, ErrorCode, OpenFlags, Row, params};

use super::limits::{BUSY_MS, CACHE_KIB, GATHERED_BYTES, PURGED_BYTES_MAX};
use crate::flow_ref::FlowRef;
use crate::journal::scan::Position;
use crate::journal::span::RecordSpan;

/// The shape of the index; one of another shape is made anew.
pub(super) const SCHEMA: u32 = 1;

const TABLES: &str = "
    CREATE TABLE flow (
        id INTEGER PRIMARY KEY, project TEXT NOT NULL, flow TEXT NOT NULL,
        segment INTEGER, offset INTEGER, seq INTEGER, crc INTEGER,
        seen INTEGER NOT NULL, stamp_segment INTEGER, stamp_bytes INTEGER, stamp_ms INTEGER,
        UNIQUE (project, flow)
    );
    CREATE TABLE standing (
        flow INTEGER NOT NULL, role TEXT NOT NULL, segment INTEGER NOT NULL,
        start INTEGER NOT NULL, stop INTEGER NOT NULL, PRIMARY KEY (flow, role)
    ) WITHOUT ROWID;
    CREATE TABLE said (
        id INTEGER PRIMARY KEY, flow INTEGER NOT NULL, role TEXT, seq INTEGER NOT NULL, nth INTEGER NOT NULL,
        segment INTEGER NOT NULL, start INTEGER NOT NULL, stop_segment INTEGER NOT NULL, stop INTEGER NOT NULL,
        node_segment INTEGER, node_start INTEGER, node_stop INTEGER, turn INTEGER
    );
    CREATE INDEX said_of ON said (flow);
    CREATE VIRTUAL TABLE words USING fts5 (
        text, scope, content = '', contentless_delete = 1, tokenize = 'ascii', prefix = '2 3'
    );";

/// Why the index does not serve.
#[derive(Debug)]
pub(super) enum IndexFault {
    /// It is damaged or of another shape, and has to be made anew.
    Damaged,
    /// Another process has it.
    Busy,
    /// The system refuses it, in words.
    Refused(String),
}

impl From<rusqlite::Error> for IndexFault {
    fn from(error: rusqlite::Error) -> Self {
        let Some(code) = error.sqlite_error_code() else {
            // A value has not the type that was written.
            return Self::Damaged;
        };
        #[expect(
            clippy::wildcard_enum_match_arm,
            reason = "what another crate adds is a refusal, until it is known"
        )]
        match code {
            ErrorCode::DatabaseCorrupt
            | ErrorCode::NotADatabase
            | ErrorCode::ConstraintViolation
            | ErrorCode::TypeMismatch
            | ErrorCode::Unknown => Self::Damaged,
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => Self::Busy,
            _ => Self::Refused(error.to_string()),
        }
    }
}

pub(super) type IndexResult<T> = Result<T, IndexFault>;

/// An open index.
#[derive(Debug)]
pub(super) struct WordDatabase {
    connection: Connection,
}

/// How far a flow is indexed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct IndexedFlow {
    pub(super) id: i64,
    /// Where reading goes on.
    pub(super) resume: Option<Position>,
    /// The last record whose messages are in the index.
    pub(super) seen: Seq,
    /// What the end of the journal was like before it was read to its end; absent if it was not.
    pub(super) stamp: Option<JournalStamp>,
}

/// What the last segment of a journal was like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct JournalStamp {
    pub(super) segment: u32,
    pub(super) bytes: u64,
    pub(super) modified_ms: i64,
}

/// A message of which the index says that it has the words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct IndexedMessage {
    pub(super) flow: FlowRef,
    pub(super) role: Option<RoleInstance>,
    pub(super) seq: Seq,
    pub(super) nth: u32,
    /// The records that say it.
    pub(super) span: RecordSpan,
    /// The record by which the role is at its node.
    pub(super) node: Option<RecordSpan>,
    /// The turn whose text it is.
    pub(super) turn: Option<TurnId>,
}

/// Which messages are looked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct ExpressionScope<'a> {
    pub(super) project: Option<&'a ProjectName>,
    pub(super) role: Option<&'a RoleInstance>,
}

impl WordDatabase {
    /// Opens an index that is there.
    pub(super) fn open(path: &Path, may_write: bool) -> IndexResult<Self> {
        let how = if may_write {
            OpenFlags::SQLITE_OPEN_READ_WRITE
        } else {
            OpenFlags::SQLITE_OPEN_READ_ONLY
        };
        let connection = connect(path, how)?;
        let shape: u32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
        if shape != SCHEMA {
            return Err(IndexFault::Damaged);
        }
        Ok(Self { connection })
    }

    /// Makes one of an empty file.
    pub(super) fn make(path: &Path) -> IndexResult<Self> {
        let how = OpenFlags::SQLITE_OPEN_READ_WRITE;
        let connection = connect(path, how)?;
        connection.pragma_update(None, "journal_mode", "wal")?;
        connection.execute_batch(&format!(
            "BEGIN; {TABLES} INSERT INTO words (words, rank) VALUES ('hashsize', {GATHERED_BYTES});
             PRAGMA user_version = {SCHEMA}; COMMIT"
        ))?;
        Ok(Self { connection })
    }

    pub(super) fn begin(&self) -> IndexResult<()> {
        Ok(self.connection.execute_batch("BEGIN IMMEDIATE")?)
    }

    pub(super) fn commit(&self) -> IndexResult<()> {
        Ok(self.connection.execute_batch("COMMIT")?)
    }

    /// Every flow that it knows.
    pub(super) fn flows(&self) -> IndexResult<Vec<(FlowRef, IndexedFlow)>> {
        let mut query = self.connection.prepare(
            "SELECT id, project, flow, segment, offset, seq, crc, seen, stamp_segment, stamp_bytes, stamp_ms FROM flow",
        )?;
        let rows = query.query_map([], |row| {
            let flow = flow_of(row, 1)?;
            let resume = match row.get::<_, Option<u32>>(3)? {
                Some(segment) => Some(Position {
                    segment,
                    offset_bytes: unsigned(row, 4)?,
                    seq: unsigned(row, 5)?,
                    crc: row.get(6)?,
                }),
                None => None,
            };
            let stamp = match row.get::<_, Option<u32>>(8)? {
                Some(segment) => Some(JournalStamp {
                    segment,
                    bytes: unsigned(row, 9)?,
                    modified_ms: row.get(10)?,
                }),
                None => None,
            };
            let known = IndexedFlow {
                id: row.get(0)?,
                resume,
                seen: unsigned(row, 7)?,
                stamp,
            };
            Ok(flow.map(|flow| (flow, known)))
        })?;
        let read: Result<Vec<_>, _> = rows.collect();
        let known: Option<Vec<_>> = read?.into_iter().collect();
        known.ok_or(IndexFault::Damaged)
    }

    /// Begins with a flow of which nothing is in the index.
    pub(super) fn add_flow(&self, flow: &FlowRef) -> IndexResult<IndexedFlow> {
        let names = params![flow.project.as_str(), flow.flow.as_str()];
        let sql = "INSERT INTO flow (project, flow, seen) VALUES (?1, ?2, 0)";
        self.connection.execute(sql, names)?;
        Ok(IndexedFlow {
            id: self.connection.last_insert_rowid(),
            resume: None,
            seen: 0,
            stamp: None,
        })
    }

    /// Keeps how far a flow is indexed.
    pub(super) fn keep_flow(&self, known: &IndexedFlow) -> IndexResult<()> {
        let (resume, stamp) = (known.resume, known.stamp);
        self.connection.execute(
            "UPDATE flow SET segment = ?2, offset = ?3, seq = ?4, crc = ?5, seen = ?6, stamp_segment = ?7,
             stamp_bytes = ?8, stamp_ms = ?9 WHERE id = ?1",
            params![
                known.id,
                resume.map(|at| at.segment),
                resume.map(|at| signed(at.offset_bytes)),
                resume.map(|at| signed(at.seq)),
                resume.map(|at| at.crc),
                signed(known.seen),
                stamp.map(|stamp| stamp.segment),
                stamp.map(|stamp| signed(stamp.bytes)),
                stamp.map(|stamp| stamp.modified_ms),
            ],
        )?;
        Ok(())
    }

    /// Takes everything of a flow out.
    pub(super) fn forget_flow(&self, id: i64) -> IndexResult<()> {
        for sql in [
            "DELETE FROM words WHERE rowid IN (SELECT id FROM said WHERE flow = ?1)",
            "DELETE FROM said WHERE flow = ?1",
            "DELETE FROM standing WHERE flow = ?1",
            "DELETE FROM flow WHERE id = ?1",
        ] {
            self.connection.execute(sql, [id])?;
        }
        Ok(())
    }

    /// Gives up the words of what was taken out. A large index does so by itself when it puts its parts together.
    pub(super) fn purge(&self) -> IndexResult<()> {
        let sql = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size";
        let bytes: i64 = self.connection.query_row(sql, [], |row| row.get(0))?;
        if bytes > PURGED_BYTES_MAX {
            return Ok(());
        }
        let sql = "INSERT INTO words (words) VALUES ('optimize')";
        Ok(self.connection.execute_batch(sql)?)
    }

    /// Where roles of a flow got to their nodes.
    pub(super) fn standings(&self, flow: i64) -> IndexResult<Vec<(RoleInstance, RecordSpan)>> {
        let mut query = self
            .connection
            .prepare("SELECT role, segment, start, stop FROM standing WHERE flow = ?1")?;
        let rows = query.query_map([flow], |row| {
            let role: String = row.get(0)?;
            let segment = row.get(1)?;
            let span = RecordSpan {
                segment,
                start_bytes: unsigned(row, 2)?,
                end_segment: segment,
                end_bytes: unsigned(row, 3)?,
            };
            Ok(role.parse().ok().map(|role: RoleInstance| (role, span)))
        })?;
        let read: Result<Vec<_>, _> = rows.collect();
        let known: Option<Vec<_>> = read?.into_iter().collect();
        known.ok_or(IndexFault::Damaged)
    }

    /// Keeps where a role got to its node.
    pub(super) fn keep_standing(
        &self,
        flow: i64,
        role: &RoleInstance,
        at: RecordSpan,
    ) -> IndexResult<()> {
        self.connection.execute(
            "INSERT OR REPLACE INTO standing VALUES (?1, ?2, ?3, ?4, ?5)",
            params![
                flow,
                role.as_str(),
                at.segment,
                signed(at.start_bytes),
                signed(at.end_bytes)
            ],
        )?;
        Ok(())
    }

    /// Adds a message with its words.
    pub(super) fn add(&self, flow: i64, message: &IndexedMessage, words: &str) -> IndexResult<()> {
        let (span, node) = (message.span, message.node);
        let mut add = self.connection.prepare_cached(
            "INSERT INTO said (flow, role, seq, nth, segment, start, stop_segment, stop, node_segment, node_start, node_stop, turn)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
        )?;
        let id = add.insert(params![
            flow,
            message.role.as_ref().map(RoleInstance::as_str),
            signed(message.seq),
            message.nth,
            span.segment,
            signed(span.start_bytes),
            span.end_segment,
            signed(span.end_bytes),
            node.map(|node| node.segment),
            node.map(|node| signed(node.start_bytes)),
            node.map(|node| signed(node.end_bytes)),
            message.turn.map(|turn| signed(turn.0)),
        ])?;
        let scope = scope_of(Some(&message.flow.project), message.role.as_ref());
        let sql = "INSERT INTO words (rowid, text, scope) VALUES (?1, ?2, ?3)";
        let mut add = self.connection.prepare_cached(sql)?;
        add.execute(params![id, words, scope.join(" ")])?;
        Ok(())
    }

    /// The messages that have these words, the last added first.
    pub(super) fn find(
        &self,
        expression: &str,
        scope: ExpressionScope<'_>,
        limit: u32,
        each: &mut dyn FnMut(IndexedMessage),
    ) -> IndexResult<u32> {
        let scope = scope_of(scope.project, scope.role).into_iter();
        let scope: String = scope
            .map(|word| format!(" AND scope : \"{word}\""))
            .collect();
        let mut query = self.connection.prepare(
            "SELECT flow.project, flow.flow, said.role, said.seq, said.nth, said.segment, said.start, said.stop_segment,
             said.stop, said.node_segment, said.node_start, said.node_stop, said.turn
             FROM words LEFT JOIN said ON said.id = words.rowid LEFT JOIN flow ON flow.id = said.flow
             WHERE words MATCH ?1 ORDER BY words.rowid DESC LIMIT ?2",
        )?;
        let mut rows = query.query(params![format!("{expression}{scope}"), limit])?;
        let mut count = 0;
        while let Some(row) = rows.next()? {
            count += 1;
            each(message_of(row)?.ok_or(IndexFault::Damaged)?);
        }
        Ok(count)
    }
}

fn connect(path: &Path, how: OpenFlags) -> IndexResult<Connection> {
    let how = how | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let connection = Connection::open_with_flags(path, how)?;
    connection.busy_timeout(Duration::from_millis(BUSY_MS))?;
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update(None, "synchronous", "normal")?;
    connection.pragma_update(None, "secure_delete", "fast")?;
    connection.pragma_update(None, "temp_store", "memory")?;
    connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
    Ok(connection)
}

fn message_of(row: &Row<'_>) -> rusqlite::Result<Option<IndexedMessage>> {
    let role: Option<String> = row.get(2)?;
    let role = match role.map(|role| role.parse::<RoleInstance>()) {
        Some(Ok(role)) => Some(role),
        Some(Err(_)) => return Ok(None),
        None => None,
    };
    let span = RecordSpan {
        segment: row.get(5)?,
        start_bytes: unsigned(row, 6)?,
        end_segment: row.get(7)?,
        end_bytes: unsigned(row, 8)?,
    };
    let node = match row.get::<_, Option<u32>>(9)? {
        Some(segment) => Some(RecordSpan {
            segment,
            start_bytes: unsigned(row, 10)?,
            end_segment: segment,
            end_bytes: unsigned(row, 11)?,
        }),
        None => None,
    };
    let (seq, nth) = (unsigned(row, 3)?, row.get(4)?);
    let turn: Option<i64> = row.get(12)?;
    Ok(flow_of(row, 0)?.map(|flow| IndexedMessage {
        flow,
        role,
        seq,
        nth,
        span,
        node,
        turn: turn.map(|turn| TurnId(turn.cast_unsigned())),
    }))
}

fn flow_of(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<FlowRef>> {
    let (project, flow): (String, String) = (row.get(column)?, row.get(column + 1)?);
    let (project, flow) = (project.parse(), flow.parse());
    Ok(project
        .ok()
        .zip(flow.ok())
        .map(|(project, flow)| FlowRef { project, flow }))
}

/// Words of a column of their own, by which a search is narrowed down before messages are looked at.
fn scope_of(project: Option<&ProjectName>, role: Option<&RoleInstance>) -> Vec<String> {
    // The tokenizer takes every sign outside of ASCII for a letter, and cuts at the others.
    let as_word = |name: &str| -> String {
        let letters = name.chars();
        letters
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '·' })
            .collect()
    };
    let project = project.map(|project| format!("p·{}", as_word(project.as_str())));
    let role = role.map(|role| format!("r·{}", as_word(role.as_str())));
    project.into_iter().chain(role).collect()
}

/// `SQLite` has signed numbers only. None of ours is as large as to lose its sign.
const fn signed(number: u64) -> i64 {
    number.cast_signed()
}

fn unsigned(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    row.get::<_, i64>(column).map(i64::cast_unsigned)
}
