//! The routes. Every request passes the same judge before it reaches any of them.

use std::sync::Arc;

use a_society_orchestrator::limits::ARTIFACT_BYTES_MAX;
use a_society_orchestrator::project::place::workspace_of;
use a_society_orchestrator::record::own;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::rejection::QueryRejection;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{Path, Query, Request, State};
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, SET_COOKIE};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::IntoResponse;
use axum::routing::{MethodRouter, get, post};
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use super::access::Wants;
use super::actions::adopt;
use super::app::{Shared, flow_ref};
use super::blocking::{missing, read, unread, waiting};
use super::hook::deliver;
use super::limits::{
    BEGIN_BYTES_MAX, BODY_BYTES_MAX, FILE_PATIENCE, HITS_MAX, ITEMS_MAX, QUERY_BYTES_MAX,
    READ_BUFFER_BYTES, WRITE_BUFFER_BYTES,
};
use super::reply::{Answer, JSON, PAGE, download, guard, json, json_text, plain, refused};
use super::window::Window;
use super::{
    assets, configuring, costs, dev, diff, events, export, feed_at, files, findings, forks,
    metrics, record, removal, requests, revisions, search, sessions, settings, socket, track,
    transcript,
};
use crate::fold::limits::DIFF_BOUNDS;
use crate::fold::words;
use crate::hub::flow::wire_ref;
use crate::protocol::http::{GraphText, NewFile, NewFlow, SessionRequest};
use crate::protocol::limits::{FRAME_BYTES_MAX, FRAME_BYTES_OVER};
use crate::protocol::settings::{Setting, SkillSetting, Trial};
use crate::protocol::workspace::{NewProject, Remove};
use crate::protocol::{Fault, FlowRef, strict};

/// A route: its path, what it requires of its client, and its handler.
pub(super) struct Route {
    pub(super) path: &'static str,
    pub(super) wants: Wants,
    by: fn() -> MethodRouter<Shared>,
}

const fn route(path: &'static str, wants: Wants, by: fn() -> MethodRouter<Shared>) -> Route {
    Route { path, wants, by }
}

/// Where the bytes of a file come in as they are. Everything else that comes in is JSON.
const UPLOADS: &str = "/api/flow/{project}/{flow}/upload";

/// Every route there is. Tests walk over this table, and the document has to name each.
pub(super) const ROUTES: &[Route] = {
    use Wants::{Nobody, Operator, Page, Signature};
    &[
        route("/api/health", Nobody, || get(health)),
        route("/api/session", Nobody, || post(session)),
        route("/api/socket", Page, || get(upgrade)),
        route("/metrics", Operator, || get(counted)),
        route("/api/flow/{project}/{flow}/items", Operator, || get(items)),
        route(
            "/api/flow/{project}/{flow}/item/{id}/body",
            Operator,
            || get(body),
        ),
        route("/api/flow/{project}/{flow}/state", Operator, || get(state)),
        route("/api/flow/{project}/{flow}/track", Operator, || {
            get(tracked)
        }),
        route("/api/flow/{project}/{flow}/events", Operator, || {
            get(recorded)
        }),
        route(
            "/api/flow/{project}/{flow}/role/{role}/transcript",
            Operator,
            || get(session_of),
        ),
        route(
            "/api/flow/{project}/{flow}/role/{role}/transcript.json",
            Operator,
            || get(taken),
        ),
        route("/api/flow/{project}/{flow}/request/{seq}", Operator, || {
            get(sent)
        }),
        route("/api/flow/{project}/{flow}/costs", Operator, || {
            get(costing)
        }),
        route("/api/flow/{project}/{flow}/files", Operator, || {
            get(handed_over)
        }),
        route("/api/flow/{project}/{flow}/record", Operator, || {
            get(in_record).post(put_in_record)
        }),
        route(UPLOADS, Operator, || post(upload)),
        route("/api/flow/{project}/{flow}/project-files", Operator, || {
            get(in_project)
        }),
        route("/api/flow/{project}/{flow}/blob/{hash}", Operator, || {
            get(blob)
        }),
        route("/api/flow/{project}/{flow}/diff", Operator, || get(differs)),
        route("/api/flow/{project}/{flow}/changes", Operator, || {
            get(changed)
        }),
        route("/api/flow/{project}/{flow}/export.html", Operator, || {
            get(exported)
        }),
        route("/api/flow/{project}/{flow}/change/{id}", Operator, || {
            get(proposed)
        }),
        route("/api/flow/{project}/{flow}/changeable", Operator, || {
            get(changeable)
        }),
        route("/api/flow/{project}/{flow}/fork", Operator, || get(forked)),
        route("/api/flow/{project}/{flow}/revision", Operator, || {
            get(walked).post(judged_graph)
        }),
        route("/api/flow/{project}/{flow}/removal", Operator, || {
            get(to_remove).post(remove)
        }),
        route("/api/findings", Operator, || get(all_findings)),
        route("/api/search", Operator, || get(found)),
        route("/api/sessions", Operator, || get(sessions_listed)),
        route("/api/sessions/history", Operator, || get(session_history)),
        route("/api/sessions/send", Operator, || post(session_send)),
        route("/api/sessions/run", Operator, || get(session_run)),
        route("/api/projects", Operator, || {
            get(projects).post(make_project)
        }),
        route("/api/models", Operator, || get(models)),
        route("/api/flows", Operator, || post(begin)),
        route("/api/hook/{name}", Signature, || post(deliver)),
        route("/api/settings", Operator, || post(configure)),
        route("/api/settings/{page}", Operator, || get(setting)),
        route("/api/skill", Operator, || get(skill).post(change_skill)),
        route("/api/trials", Operator, || post(try_out)),
    ]
};

/// All routes.
pub(super) fn router(app: Shared) -> Router {
    let routes = ROUTES.iter().fold(Router::new(), |router, route| {
        router.route(route.path, (route.by)())
    });
    routes
        .fallback(page)
        .layer(from_fn_with_state(Arc::clone(&app), judged))
        .with_state(app)
}

/// What a path requires of its client. Only the page itself and the routes that the table marks are for
/// everyone; other paths below `/api` require the operator, too.
fn wants(method: &Method, path: &str) -> Wants {
    let is_hook = path
        .strip_prefix("/api/hook/")
        .is_some_and(|name| !name.contains('/'));
    if is_hook && *method == Method::POST {
        return Wants::Signature;
    }
    if let Some(route) = ROUTES.iter().find(|route| route.path == path) {
        return route.wants;
    }
    if is_ours(path) {
        return Wants::Operator;
    }
    Wants::Nobody
}

/// Whether a path is answered here only, wherever the page's files come from.
fn is_ours(path: &str) -> bool {
    path == "/api" || path.starts_with("/api/") || path == "/metrics"
}

async fn health() -> Answer {
    json_text("{\"ok\":true}".to_owned())
}

/// Judges a request, and says with its answer what a browser may do with it.
async fn judged(State(app): State<Shared>, request: Request, next: Next) -> Answer {
    let (method, uri) = (request.method(), request.uri());
    let ours = is_ours(uri.path());
    let judged = app
        .access
        .judge(method, uri, request.headers(), wants(method, uri.path()));
    // A token in an address ends up in histories and logs; it belongs behind the `#`.
    let shows_token = uri.query().is_some_and(|query| query.contains("token="));
    let mut answer = match judged {
        Err(why) => refused(why.status, why.why),
        Ok(()) if shows_token => {
            refused(StatusCode::UNAUTHORIZED, "the token is not for addresses")
        }
        Ok(()) if is_form(method, uri.path(), request.headers()) => refused(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "only JSON is understood",
        ),
        Ok(()) => next.run(request).await,
    };
    guard(answer.headers_mut());
    if let Some(from) = app.dev.filter(|_| !ours) {
        // It takes the place of the strict one: of two, both would hold.
        answer
            .headers_mut()
            .insert(CONTENT_SECURITY_POLICY, dev::policy(from));
    }
    answer
}

/// Whether a request brings something that is neither JSON nor, where files come in, bytes. A form needs no consent
/// of a browser.
fn is_form(method: &Method, path: &str, headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    let wanted = match path.starts_with("/api/flow/") && path.ends_with("/upload") {
        true => "application/octet-stream",
        false => "application/json",
    };
    *method == Method::POST && !kind.eq_ignore_ascii_case(wanted)
}

async fn page(State(app): State<Shared>, uri: Uri, method: Method, headers: HeaderMap) -> Answer {
    if !matches!(method, Method::GET | Method::HEAD) {
        return refused(StatusCode::METHOD_NOT_ALLOWED, "this is only read");
    }
    match app.dev.filter(|_| !is_ours(uri.path())) {
        Some(from) => dev::pass(from, &uri, method, &headers).await,
        None => assets::serve(uri.path(), &headers, &app.build),
    }
}

/// Reads a body that is one message.
async fn message<T: DeserializeOwned>(app: &Shared, body: Body) -> Result<T, Answer> {
    bounded(app, body, BODY_BYTES_MAX).await
}

/// Reads a body that is one message of at most so many bytes.
async fn bounded<T: DeserializeOwned>(
    app: &Shared,
    body: Body,
    bytes_max: usize,
) -> Result<T, Answer> {
    let Ok(bytes) = timeout(app.patience, to_bytes(body, bytes_max)).await else {
        return Err(refused(
            StatusCode::REQUEST_TIMEOUT,
            "it did not come in time",
        ));
    };
    let bytes = bytes.map_err(|_| refused(StatusCode::PAYLOAD_TOO_LARGE, "it is too long"))?;
    let text = std::str::from_utf8(&bytes);
    let text = text.map_err(|_| refused(StatusCode::BAD_REQUEST, "it is not UTF-8"))?;
    strict::read(text).map_err(|why| refused(StatusCode::BAD_REQUEST, &why))
}

/// The token of an address for a cookie, once.
async fn session(State(app): State<Shared>, body: Body) -> Answer {
    let said: SessionRequest = match message(&app, body).await {
        Ok(said) => said,
        Err(answer) => return answer,
    };
    if !app.access.secrets().take_launch(&said.token) {
        return refused(
            StatusCode::UNAUTHORIZED,
            "the token of this address was taken, or is not one of this server",
        );
    }
    // A client that asks for the next address once this one is answered must not be given the one that was used.
    let passing = Arc::clone(&app);
    let passed = tokio::task::spawn_blocking(move || passing.access.secrets().pass_launch_on());
    drop(passed.await);
    let mut answer = json_text("{\"ok\":true}".to_owned());
    if let Ok(cookie) = HeaderValue::from_str(&app.access.set_cookie()) {
        answer.headers_mut().insert(SET_COOKIE, cookie);
    }
    answer
}

async fn upgrade(State(app): State<Shared>, upgrade: WebSocketUpgrade) -> Answer {
    let Ok(place) = Arc::clone(&app.sockets).try_acquire_owned() else {
        return refused(StatusCode::SERVICE_UNAVAILABLE, "too many sockets are open");
    };
    upgrade
        // A little more is read than is understood, so that the answer can say what was wrong.
        .max_message_size(FRAME_BYTES_MAX + FRAME_BYTES_OVER)
        .max_frame_size(FRAME_BYTES_MAX + FRAME_BYTES_OVER)
        .read_buffer_size(READ_BUFFER_BYTES)
        .write_buffer_size(WRITE_BUFFER_BYTES)
        .on_upgrade(move |stream| async move {
            let mut over = app.over.subscribe();
            tokio::select! {
                () = socket::serve(app, stream, place) => {}
                _ = over.wait_for(|over| *over) => {}
            }
        })
        .into_response()
}

async fn counted(State(app): State<Shared>) -> Answer {
    plain(metrics::text(&app))
}

/// Where a file that comes in goes.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Upload {
    path: String,
    over: Option<String>,
}

type QueryOf<T> = Result<Query<T>, QueryRejection>;

type Asked = QueryOf<Window>;

fn not_understood() -> Answer {
    let why = "what is asked for was not understood";
    refused(StatusCode::BAD_REQUEST, why)
}

/// Reads what is asked for.
async fn asked_for<F>(app: Shared, asked: Asked, work: F) -> Answer
where
    F: FnOnce(&Shared, &Window) -> Result<Answer, Fault> + Send + 'static,
{
    let Ok(Query(window)) = asked else {
        return not_understood();
    };
    read(&app, move |app| work(app, &window)).await
}

/// Reads something of a flow.
async fn of_flow<F>(app: Shared, flow: FlowRef, asked: Asked, work: F) -> Answer
where
    F: FnOnce(&Shared, &a_society_state::FlowRef, &Window) -> Result<Answer, Fault>
        + Send
        + 'static,
{
    asked_for(app, asked, move |app, window| {
        work(app, &flow_ref(&flow)?, window)
    })
    .await
}

/// A flow, and which of its things is asked for: an item, a role, a request, a text, a change.
type Inside<T> = Path<(String, String, T)>;

/// Reads one thing that is inside of a flow.
async fn within<T, F>(app: Shared, inside: Inside<T>, asked: Asked, work: F) -> Answer
where
    T: Send + 'static,
    F: FnOnce(&Shared, &a_society_state::FlowRef, &T, &Window) -> Result<Answer, Fault>
        + Send
        + 'static,
{
    let Path((project, flow, which)) = inside;
    of_flow(
        app,
        FlowRef { project, flow },
        asked,
        move |app, flow, window| work(app, flow, &which, window),
    )
    .await
}

async fn items(State(app): State<Shared>, Path(flow): Path<FlowRef>, asked: Asked) -> Answer {
    of_flow(app, flow, asked, |app, flow, window| {
        let limit = window.limit.unwrap_or(ITEMS_MAX / 5).clamp(1, ITEMS_MAX);
        feed_at::items(app, flow, window, limit).map(json_text)
    })
    .await
}

async fn body(State(app): State<Shared>, id: Inside<String>, asked: Asked) -> Answer {
    within(app, id, asked, |app, flow, id, window| {
        feed_at::body(app, flow, id, window).map(|body| json(&body))
    })
    .await
}

async fn state(State(app): State<Shared>, Path(flow): Path<FlowRef>, asked: Asked) -> Answer {
    of_flow(app, flow, asked, |app, flow, window| {
        feed_at::state(app, flow, window.at).map(|state| json(&state))
    })
    .await
}

async fn tracked(State(app): State<Shared>, Path(flow): Path<FlowRef>, asked: Asked) -> Answer {
    of_flow(app, flow, asked, |app, flow, _| {
        track::of(app, flow).map(|text| json_text(text.to_string()))
    })
    .await
}

async fn recorded(State(app): State<Shared>, Path(flow): Path<FlowRef>, asked: Asked) -> Answer {
    of_flow(app, flow, asked, |app, flow, window| {
        events::of(app, flow, window).map(|events| json(&events))
    })
    .await
}

async fn session_of(State(app): State<Shared>, role: Inside<String>, asked: Asked) -> Answer {
    within(app, role, asked, |app, flow, role, window| {
        transcript::of(&app.hubs, flow, role, window).map(|transcript| json(&transcript))
    })
    .await
}

/// A session to keep, without secrets.
async fn taken(State(app): State<Shared>, role: Inside<String>, asked: Asked) -> Answer {
    within(app, role, asked, |app, flow, role, window| {
        let (name, text) = transcript::taken(&app.hubs, flow, role, window)?;
        let clean = export::without_secrets(&text, &|text| app.actions.redact(text));
        Ok(download(&name, JSON, clean))
    })
    .await
}

/// A request as it left for its model.
async fn sent(State(app): State<Shared>, seq: Inside<u64>, asked: Asked) -> Answer {
    within(app, seq, asked, |app, flow, seq, _| {
        requests::sent(app, flow, *seq).map(|sent| json(&sent))
    })
    .await
}

async fn handed_over(State(app): State<Shared>, Path(flow): Path<FlowRef>, asked: Asked) -> Answer {
    of_flow(app, flow, asked, |app, flow, window| {
        let project = app.project_folder(flow);
        files::of(&app.hubs.store, flow, window.at, &project).map(|files| json(&files))
    })
    .await
}

async fn costing(State(app): State<Shared>, Path(flow): Path<FlowRef>, asked: Asked) -> Answer {
    of_flow(app, flow, asked, |app, flow, window| {
        costs::of(&app.hubs.store, flow, window.at).map(|costs| json(&costs))
    })
    .await
}

/// What a person may hand over: the list of it, or one text.
async fn in_record(State(app): State<Shared>, Path(flow): Path<FlowRef>, asked: Asked) -> Answer {
    of_flow(app, flow, asked, |app, flow, window| match &window.path {
        Some(path) => record::text(app, flow, path).map(|text| json(&text)),
        None => Ok(json(&record::list(app, flow))),
    })
    .await
}

async fn put_in_record(State(app): State<Shared>, Path(flow): Path<FlowRef>, body: Body) -> Answer {
    let new: NewFile = match bounded(&app, body, BEGIN_BYTES_MAX).await {
        Ok(new) => new,
        Err(answer) => return answer,
    };
    read(&app, move |app| {
        let (flow, over) = (flow_ref(&flow)?, new.over.as_deref());
        let (path, bytes) = (new.path.as_str(), new.text.as_bytes());
        record::write(app, &flow, path, bytes, over).map(|written| json(&written))
    })
    .await
}

/// The bytes of a file, whatever they are, into the flow's shared folder.
async fn upload(
    State(app): State<Shared>,
    Path(flow): Path<FlowRef>,
    asked: Result<Query<Upload>, QueryRejection>,
    body: Body,
) -> Answer {
    let Ok(Query(Upload { path, over })) = asked else {
        return refused(
            StatusCode::BAD_REQUEST,
            "what is asked for was not understood",
        );
    };
    let bytes_max = usize::try_from(ARTIFACT_BYTES_MAX).unwrap_or(usize::MAX);
    let coming = to_bytes(body, bytes_max);
    let Ok(bytes) = timeout(app.patience * FILE_PATIENCE, coming).await else {
        return refused(StatusCode::REQUEST_TIMEOUT, "the file did not come in time");
    };
    let Ok(bytes) = bytes else {
        return refused(StatusCode::PAYLOAD_TOO_LARGE, &own::too_large());
    };
    read(&app, move |app| {
        let (flow, over) = (flow_ref(&flow)?, over.as_deref());
        record::write(app, &flow, &path, &bytes, over).map(|written| json(&written))
    })
    .await
}

/// The files of the project that a person may hand over.
async fn in_project(State(app): State<Shared>, Path(flow): Path<FlowRef>, asked: Asked) -> Answer {
    of_flow(app, flow, asked, |app, flow, window| {
        let words = window.q.as_deref().unwrap_or_default();
        let words = words::beginning(words, QUERY_BYTES_MAX);
        Ok(json(&record::of_project(app, flow, words)))
    })
    .await
}

async fn blob(State(app): State<Shared>, hash: Inside<String>, asked: Asked) -> Answer {
    within(app, hash, asked, |app, flow, hash, window| {
        let project = app.project_folder(flow);
        let bytes = files::blob(&app.hubs.store, flow, hash, &project)?;
        Ok(match window.limit {
            // Of a long text its beginning is enough to decide by.
            Some(limit) => {
                plain(words::beginning(&String::from_utf8_lossy(&bytes), limit).to_owned())
            }
            None => plain(bytes),
        })
    })
    .await
}

async fn differs(State(app): State<Shared>, Path(flow): Path<FlowRef>, asked: Asked) -> Answer {
    of_flow(app, flow, asked, |app, flow, window| {
        let project = app.project_folder(flow);
        diff::between(&app.hubs, flow, window, &project).map(|diff| json(&diff))
    })
    .await
}

async fn changed(State(app): State<Shared>, Path(flow): Path<FlowRef>, asked: Asked) -> Answer {
    of_flow(app, flow, asked, |app, flow, window| {
        diff::changes(&app.hubs, flow, window.at, &DIFF_BOUNDS).map(|changes| json(&changes))
    })
    .await
}

/// The flow as one file to keep. It is no page of this server: what is in it runs from a disk.
/// The parts that a file was written without, because there was too much of them.
const LEFT_OUT: &str = "x-left-out";

async fn exported(State(app): State<Shared>, Path(flow): Path<FlowRef>, asked: Asked) -> Answer {
    of_flow(app, flow, asked, |app, flow, _| {
        let redact = |text: &str| app.actions.redact(text);
        let project = app.project_folder(flow);
        let wanted = export::Wanted {
            redact: &redact,
            without: std::collections::BTreeSet::new(),
            shrinks: true,
            build: &app.build,
            workspace: &app.workspace,
            project: &project,
        };
        let made = export::page(&app.hubs, flow, &wanted).map_err(|failed| match failed {
            export::Failed::Unread(fault) => fault,
            other @ (export::Failed::TooLarge { .. }
            | export::Failed::TooLong
            | export::Failed::NoPage) => Fault {
                code: "not-exported".to_owned(),
                what: "the flow was not written into one page".to_owned(),
                why: other.to_string(),
                r#try: format!("a-society export {} {}.tar", flow.flow, flow.flow),
            },
        })?;
        let name = format!("{}.html", flow.flow);
        let mut answer = download(&name, PAGE, made.html);
        let left_out: Vec<&str> = made.left_out.iter().map(|part| part.word()).collect();
        if let Ok(words) = HeaderValue::from_str(&left_out.join(",")) {
            answer.headers_mut().insert(LEFT_OUT, words);
        }
        Ok(answer)
    })
    .await
}

/// What a proposed change would do to its file.
async fn proposed(State(app): State<Shared>, id: Inside<String>, asked: Asked) -> Answer {
    within(app, id, asked, |app, flow, id, _| {
        findings::change(app, flow, id).map(|change| json(&change))
    })
    .await
}

async fn changeable(State(app): State<Shared>, Path(flow): Path<FlowRef>, asked: Asked) -> Answer {
    of_flow(app, flow, asked, |app, flow, window| {
        findings::changeable(app, flow, window.path.as_deref()).map(|files| json(&files))
    })
    .await
}

/// What a fork would be.
async fn forked(State(app): State<Shared>, Path(flow): Path<FlowRef>, asked: Asked) -> Answer {
    of_flow(app, flow, asked, |app, flow, window| {
        forks::plan(app, flow, window).map(|plan| json(&plan))
    })
    .await
}

/// The file of the graph that is walked now.
async fn walked(State(app): State<Shared>, Path(flow): Path<FlowRef>, asked: Asked) -> Answer {
    of_flow(app, flow, asked, |app, flow, _| {
        revisions::walked(app, flow).map(|walked| json(&walked))
    })
    .await
}

/// What another graph would change. The flow gets nothing.
async fn judged_graph(State(app): State<Shared>, Path(flow): Path<FlowRef>, body: Body) -> Answer {
    let wanted: GraphText = match message(&app, body).await {
        Ok(wanted) => wanted,
        Err(answer) => return answer,
    };
    read(&app, move |app| {
        let flow = flow_ref(&flow)?;
        revisions::judge(app, &flow, wanted.source).map(|judged| json(&judged))
    })
    .await
}

/// What the removal of a flow would be.
async fn to_remove(State(app): State<Shared>, Path(flow): Path<FlowRef>, asked: Asked) -> Answer {
    of_flow(app, flow, asked, |app, flow, _| {
        removal::plan(app, flow).map(|plan| json(&plan))
    })
    .await
}

/// Removes a flow.
async fn remove(State(app): State<Shared>, Path(flow): Path<FlowRef>, body: Body) -> Answer {
    let seen: Remove = match message(&app, body).await {
        Ok(seen) => seen,
        Err(answer) => return answer,
    };
    read(&app, move |app| {
        let flow = flow_ref(&flow)?;
        removal::remove(app, &flow, &seen).map(|removed| json(&removed))
    })
    .await
}

async fn all_findings(State(app): State<Shared>, asked: Asked) -> Answer {
    asked_for(app, asked, |app, window| {
        findings::list(app, window).map(|found| json(&found))
    })
    .await
}

async fn found(State(app): State<Shared>, asked: Asked) -> Answer {
    asked_for(app, asked, |app, window| {
        search::of(app, window, HITS_MAX).map(|hits| json(&hits))
    })
    .await
}

async fn sessions_listed(
    State(app): State<Shared>,
    asked: QueryOf<sessions::SessionListRequest>,
) -> Answer {
    let Ok(Query(asked)) = asked else {
        return not_understood();
    };
    read(&app, move |app| sessions::listed(app, &asked)).await
}

async fn session_history(
    State(app): State<Shared>,
    asked: QueryOf<sessions::HistoryRequest>,
) -> Answer {
    let Ok(Query(asked)) = asked else {
        return not_understood();
    };
    read(&app, move |app| sessions::history(app, &asked)).await
}

async fn session_send(State(app): State<Shared>, body: Body) -> Answer {
    let asked: sessions::MessageRequest = match bounded(&app, body, BEGIN_BYTES_MAX).await {
        Ok(asked) => asked,
        Err(answer) => return answer,
    };
    waiting(&app, move |app, is_over| asked.send(app, is_over)).await
}

async fn session_run(State(app): State<Shared>, asked: QueryOf<sessions::RunRequest>) -> Answer {
    let Ok(Query(asked)) = asked else {
        return not_understood();
    };
    waiting(&app, move |app, is_over| asked.report(app, is_over)).await
}

async fn projects(State(app): State<Shared>) -> Answer {
    read(&app, |app| Ok(json(&settings::projects(app)))).await
}

/// Makes a project.
async fn make_project(State(app): State<Shared>, body: Body) -> Answer {
    let new: NewProject = match message(&app, body).await {
        Ok(new) => new,
        Err(answer) => return answer,
    };
    read(&app, move |app| {
        app.actions.make_project(&new).map(|made| json(&made))
    })
    .await
}

async fn models(State(app): State<Shared>) -> Answer {
    read(&app, |app| Ok(json(&settings::models(app)))).await
}

/// Changes what is configured.
async fn configure(State(app): State<Shared>, body: Body) -> Answer {
    let setting: Setting = match message(&app, body).await {
        Ok(setting) => setting,
        Err(answer) => return answer,
    };
    read(&app, move |app| {
        settings::configure(app, &setting).map(|done| json(&done))
    })
    .await
}

/// Which skill is asked for: one of the operator's own, or of a project.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct SkillAsked {
    name: String,
    project: Option<String>,
}

async fn skill(
    State(app): State<Shared>,
    asked: Result<Query<SkillAsked>, QueryRejection>,
) -> Answer {
    let Ok(Query(SkillAsked { name, project })) = asked else {
        return refused(StatusCode::BAD_REQUEST, "a skill is asked for by its name");
    };
    read(&app, move |app| {
        let found = configuring::skill(&app.hubs.store, &name, project.as_deref());
        found.map(|found| json(&found))
    })
    .await
}

/// Changes a skill of the operator's own.
async fn change_skill(State(app): State<Shared>, body: Body) -> Answer {
    let setting: SkillSetting = match message(&app, body).await {
        Ok(setting) => setting,
        Err(answer) => return answer,
    };
    read(&app, move |_| {
        configuring::change_skill(&setting).map(|done| json(&done))
    })
    .await
}

/// Tries out what is configured.
async fn try_out(State(app): State<Shared>, body: Body) -> Answer {
    let trial: Trial = match message(&app, body).await {
        Ok(trial) => trial,
        Err(answer) => return answer,
    };
    read(&app, move |app| {
        let root = workspace_of(&app.hubs.store);
        configuring::trial(&trial, root).map(|tried| json(&tried))
    })
    .await
}

async fn setting(State(app): State<Shared>, Path(page): Path<String>) -> Answer {
    read(&app, move |app| {
        let found = settings::page(&app.hubs.store, &page);
        found.map(|page| json(&page)).ok_or_else(|| {
            missing(
                "there are no such settings",
                "the pages are models, mcp, skills and permissions",
            )
        })
    })
    .await
}

/// Starts a flow.
async fn begin(State(app): State<Shared>, body: Body) -> Answer {
    let new: NewFlow = match bounded(&app, body, BEGIN_BYTES_MAX).await {
        Ok(new) => new,
        Err(answer) => return answer,
    };
    read(&app, move |app| {
        let rules = configuring::rules_of(&new)?;
        let begun = app.actions.start(&new, rules)?;
        let flow = begun.flow.clone();
        adopt(&app.hubs, begun);
        let look = app.hubs.store.look(&flow).map_err(|error| unread(&error))?;
        let driven_by = app.hubs.liveness(&flow).driven_by;
        let row = crate::fold::row::row(&wire_ref(&flow), &look.screen.flow, driven_by);
        Ok(json(&row))
    })
    .await
}
