//! The screen of `watch`, drawn from what it shows and what the operator does: pure, so that whole
//! screens are snapshots. Signs and words show states; colour only repeats them.

use a_society_facts::fact::operator::SteerWhen;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Paragraph};

use super::keys::{Focus, State, hints};
use super::view::{AskKind, AskView, FlowView, View};
use crate::text::{one_line, width};

/// What is asked is shown in so many lines at once; the rest is reached by scrolling.
pub(super) const SAYS_LINES: usize = 8;

/// The keys and what they do take at most so many rows.
const HINT_ROWS: usize = 3;

/// Rows and columns below which nothing could be read.
const ROWS_MIN: u16 = 14;
const COLUMNS_MIN: u16 = 50;

/// Draws everything.
pub(crate) fn draw(frame: &mut Frame<'_>, view: &View, state: &State, colours: bool) {
    let area = frame.area();
    if area.height < ROWS_MIN || area.width < COLUMNS_MIN {
        let small = format!("the terminal is smaller than {COLUMNS_MIN} by {ROWS_MIN}; q ends");
        frame.render_widget(Paragraph::new(small), area);
        return;
    }
    let paint = Paint { colours };
    let ask = view.ask(state.ask.as_ref());
    let says = ask.map_or(0, |ask| bar_rows(ask, area.width));
    let hints = hint_rows(&hint(ask, view, state, area.width), usize::from(area.width));
    let [head, body, bar, told, keys] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Min(6),
        Constraint::Length(says),
        Constraint::Length(1),
        Constraint::Length(u16::try_from(hints.len()).unwrap_or(1)),
    ])
    .areas(area);
    frame.render_widget(heading(view, paint), head);
    let [left, right] = Layout::horizontal([Constraint::Percentage(42), Constraint::Fill(1)])
        .spacing(2)
        .areas(body);
    let [asks, flows, nodes] = Layout::vertical([
        Constraint::Fill(2),
        Constraint::Fill(1),
        Constraint::Fill(2),
    ])
    .areas(left);
    draw_asks(frame, asks, (view, state), paint);
    draw_flows(frame, flows, (view, state), paint);
    draw_nodes(frame, nodes, view.chosen.as_ref(), paint);
    draw_feed(frame, right, (view, state), paint);
    if let Some(ask) = ask {
        draw_bar(frame, bar, (ask, state), paint);
    }
    frame.render_widget(
        Paragraph::new(Span::styled(plain_line(&state.told, told), paint.bold())),
        told,
    );
    let hints = hints.iter().map(|row| plain_line(row, keys));
    let hints: Vec<Line<'_>> = hints.map(|row| Line::styled(row, paint.dim())).collect();
    frame.render_widget(Paragraph::new(hints), keys);
    if let Some((before, text)) = typed(state) {
        let before = one_line(&before, usize::from(told.width) / 2);
        let room = usize::from(told.width).saturating_sub(width(&before) + 3);
        let typed = format!("{before}> {}", tail(text, room));
        frame.render_widget(Paragraph::new(typed.clone()), told);
        let column = u16::try_from(width(&typed)).unwrap_or(u16::MAX);
        frame.set_cursor_position((told.x.saturating_add(column), told.y));
    }
}

/// The text that is typed, and the prompt before it.
fn typed(state: &State) -> Option<(String, &str)> {
    match (state.focus, &state.steered) {
        (Focus::Text, _) => Some((String::new(), &state.text)),
        (Focus::Steer, Some(to)) => Some((format!("to {} ", to.role), &state.words)),
        (Focus::Asks | Focus::Flows | Focus::Feed | Focus::Steer, _) => None,
    }
}

/// How things are painted, with or without colours.
#[derive(Debug, Clone, Copy)]
struct Paint {
    colours: bool,
}

impl Paint {
    fn bold(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    fn dim(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    fn chosen(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    fn wanted(self) -> Style {
        self.coloured(Color::Yellow)
    }

    fn wrong(self) -> Style {
        self.coloured(Color::Red)
    }

    fn coloured(self, colour: Color) -> Style {
        if self.colours {
            self.bold().fg(colour)
        } else {
            self.bold()
        }
    }
}

fn plain_line(text: &str, area: Rect) -> String {
    one_line(text, usize::from(area.width))
}

fn heading(view: &View, paint: Paint) -> Line<'static> {
    let asked = match view.asks.len() {
        0 => "nothing waits for you".to_owned(),
        1 => "1 question waits for you".to_owned(),
        more => format!("{more} questions wait for you"),
    };
    let style = if view.asks.is_empty() {
        paint.dim()
    } else {
        paint.wanted()
    };
    Line::from(vec![
        Span::styled("a-society  ", paint.bold()),
        Span::styled(asked, style),
    ])
}

fn block(title: String, has_keys: bool, paint: Paint) -> Block<'static> {
    let style = if has_keys { paint.bold() } else { paint.dim() };
    let title = if has_keys {
        format!("▸ {title} ")
    } else {
        format!("{title} ")
    };
    Block::new()
        .borders(Borders::TOP)
        .border_style(style)
        .title(Span::styled(title, style))
}

/// Draws lines so that the one of a number is among them.
fn list(frame: &mut Frame<'_>, area: Rect, block: Block<'static>, lines: Vec<Line<'_>>, at: usize) {
    let rows = usize::from(block.inner(area).height);
    let skipped = at.saturating_sub(rows.saturating_sub(1));
    let shown: Vec<Line<'_>> = lines.into_iter().skip(skipped).take(rows).collect();
    frame.render_widget(Paragraph::new(shown).block(block), area);
}

fn draw_asks(frame: &mut Frame<'_>, area: Rect, (view, state): (&View, &State), paint: Paint) {
    let title = format!("Waiting for you ({})", view.asks.len());
    let block = block(title, state.focus == Focus::Asks, paint);
    let columns = usize::from(area.width);
    let chosen = |ask: &AskView| Some(&ask.id) == state.ask.as_ref();
    let lines = view.asks.iter().map(|ask| {
        let text = format!("◆ {} waits for {}", ask.who, ask.what);
        let style = if chosen(ask) {
            paint.chosen()
        } else {
            paint.wanted()
        };
        Line::styled(one_line(&text, columns), style)
    });
    let mut lines: Vec<Line<'_>> = lines.collect();
    if lines.is_empty() {
        lines.push(Line::styled("Nothing waits for you.", paint.dim()));
    }
    let at = view.asks.iter().position(chosen).unwrap_or(0);
    list(frame, area, block, lines, at);
}

fn draw_flows(frame: &mut Frame<'_>, area: Rect, (view, state): (&View, &State), paint: Paint) {
    let block = block(
        format!("Flows ({})", view.flows.len()),
        state.focus == Focus::Flows,
        paint,
    );
    let columns = usize::from(area.width);
    let looked_at = view.chosen.as_ref().map(|chosen| &chosen.flow);
    let lines = view.flows.iter().map(|line| {
        let is_chosen = Some(&line.flow) == looked_at;
        let mark = if is_chosen { "›" } else { "·" };
        let text = format!("{mark} {} · {}", line.title, line.status);
        let style = match (is_chosen, state.focus) {
            (true, Focus::Flows) => paint.chosen(),
            (true, Focus::Asks | Focus::Feed | Focus::Text | Focus::Steer) => paint.bold(),
            (false, _) => Style::new(),
        };
        Line::styled(one_line(&text, columns), style)
    });
    let lines = lines.collect();
    let at = view
        .flows
        .iter()
        .position(|line| Some(&line.flow) == looked_at);
    list(frame, area, block, lines, at.unwrap_or(0));
}

fn draw_nodes(frame: &mut Frame<'_>, area: Rect, chosen: Option<&FlowView>, paint: Paint) {
    let Some(flow) = chosen else { return };
    let title = format!("{}, {}", flow.title, flow.status);
    let block = block(one_line(&title, usize::from(area.width)), false, paint);
    let columns = usize::from(area.width);
    let damage = flow.damage.iter();
    let mut lines: Vec<Line<'_>> = damage
        .flat_map(|damage| wrap(damage, columns))
        .map(|line| Line::styled(line, paint.wrong()))
        .collect();
    lines.extend(flow.nodes.iter().map(|node| {
        let text = format!("{} {} ({}) {}", node.sign, node.node, node.role, node.word);
        let style = if node.waits {
            paint.wanted()
        } else {
            Style::new()
        };
        Line::styled(one_line(&text, columns), style)
    }));
    let at = flow.nodes.iter().position(|node| node.waits).unwrap_or(0);
    list(frame, area, block, lines, at);
}

fn draw_feed(frame: &mut Frame<'_>, area: Rect, (view, state): (&View, &State), paint: Paint) {
    let feed = view
        .chosen
        .as_ref()
        .and_then(|flow| flow.feed(state.role.as_ref()));
    let roles = view.chosen.as_ref().map_or(0, |flow| flow.feeds.len());
    let title = feed.map_or_else(
        || "Feed".to_owned(),
        |feed| match roles {
            0 | 1 => format!("Feed of {}", feed.role),
            more => format!("Feed of {} (one of {more})", feed.role),
        },
    );
    let above = if state.feed_up > 0 {
        ", scrolled up"
    } else {
        ""
    };
    let block = block(format!("{title}{above}"), state.focus == Focus::Feed, paint);
    let inner = block.inner(area);
    let columns = usize::from(inner.width).saturating_sub(2);
    let rows = usize::from(inner.height);
    let mut lines: Vec<Line<'_>> = Vec::new();
    for item in feed.iter().flat_map(|feed| &feed.items) {
        let style = if item.failed {
            paint.wrong()
        } else {
            paint.bold()
        };
        let head = format!("{} {}", item.sign, item.label);
        lines.push(Line::styled(one_line(&head, columns + 2), style));
        let texts = item.lines.iter().flat_map(|line| wrap(line, columns));
        lines.extend(texts.map(|line| Line::from(format!("  {line}"))));
    }
    let up = state.feed_up.min(lines.len().saturating_sub(rows));
    let end = lines.len() - up;
    let shown = lines
        .drain(end.saturating_sub(rows)..end)
        .collect::<Vec<_>>();
    frame.render_widget(Paragraph::new(shown).block(block), area);
}

/// How many rows an ask takes: its title, what it says, and what an answer for the flow covers.
fn bar_rows(ask: &AskView, columns: u16) -> u16 {
    let says = said(ask, columns).len().min(SAYS_LINES);
    let scope = usize::from(matches!(ask.kind, AskKind::Consent { scope: Some(_), .. }));
    u16::try_from(1 + says + scope).unwrap_or(u16::MAX)
}

/// How many rows lines of an ask take on a screen that is so wide.
pub(super) fn rows(lines: &[String], columns: u16) -> usize {
    lines
        .iter()
        .map(|line| wrap(line, says_columns(columns)).len())
        .sum()
}

/// What is left of a row beside the line that marks what is asked.
fn says_columns(columns: u16) -> usize {
    usize::from(columns).saturating_sub(2)
}

/// Everything that is to be read before an answer, in lines as wide as the screen.
fn said(ask: &AskView, columns: u16) -> Vec<String> {
    let columns = says_columns(columns);
    let typed = match &ask.kind {
        AskKind::Typed { commands } => commands.as_slice(),
        AskKind::Text { .. }
        | AskKind::Own { .. }
        | AskKind::Consent { .. }
        | AskKind::Approval { .. }
        | AskKind::Improvement { .. }
        | AskKind::Feedback
        | AskKind::Unpause
        | AskKind::Configuration { .. } => &[],
    };
    let all = ask.says.iter().chain(typed);
    all.flat_map(|line| wrap(line, columns)).collect()
}

fn draw_bar(frame: &mut Frame<'_>, area: Rect, (ask, state): (&AskView, &State), paint: Paint) {
    let said = said(ask, area.width);
    let hidden = said.len().saturating_sub(SAYS_LINES);
    let down = state.says_down.min(hidden);
    let more = match (hidden, down) {
        (0, _) => String::new(),
        (_, down) => format!(
            ", lines {} to {} of {}",
            down + 1,
            down + SAYS_LINES,
            said.len()
        ),
    };
    let title = format!("{} waits for {}{more}", ask.who, ask.what);
    let block = block(
        one_line(&title, usize::from(area.width)),
        !matches!(state.focus, Focus::Text | Focus::Steer),
        paint,
    );
    let mut lines: Vec<Line<'_>> = said
        .into_iter()
        .skip(down)
        .take(SAYS_LINES)
        .map(|line| Line::from(format!("│ {line}")))
        .collect();
    if let AskKind::Consent {
        scope: Some(scope), ..
    } = &ask.kind
    {
        let scope = scope.lines().next().unwrap_or_default();
        let text = format!("for this flow allows: {scope}");
        lines.push(Line::styled(
            one_line(&text, usize::from(area.width)),
            paint.dim(),
        ));
    }
    frame.render_widget(Paragraph::new(lines).block(block), area);
}

/// Keys and what they do, in rows of so many columns, each whole where it fits.
fn hint_rows(hint: &str, columns: usize) -> Vec<String> {
    let mut rows: Vec<String> = Vec::new();
    for part in hint.split(BETWEEN) {
        match rows.last_mut() {
            Some(row) if width(row) + width(BETWEEN) + width(part) <= columns => {
                row.push_str(BETWEEN);
                row.push_str(part);
            }
            Some(_) | None => rows.push(part.to_owned()),
        }
    }
    rows.truncate(HINT_ROWS);
    rows
}

/// The separator between two keys.
const BETWEEN: &str = " · ";

fn hint(ask: Option<&AskView>, view: &View, state: &State, columns: u16) -> String {
    match (state.focus, &state.steered) {
        (Focus::Text, _) => {
            let asked = state.own.as_ref().map(|own| {
                let mark = own.mark();
                format!("{} · ", mark.trim_end_matches("> "))
            });
            let asked = asked.unwrap_or_default();
            return format!("{asked}enter sends · esc leaves it as it is");
        }
        (Focus::Steer, Some(to)) => {
            let when = match to.when {
                SteerWhen::Queue => "it is heard with the next request",
                SteerWhen::Interrupt => "it cuts off the answer that arrives",
            };
            return format!("enter sends, and {when} · esc leaves it as it is");
        }
        (Focus::Asks | Focus::Flows | Focus::Feed | Focus::Steer, _) => {}
    }
    let moves = match state.focus {
        Focus::Asks => "↑↓ choose a question · pgup pgdn read on",
        Focus::Flows => "↑↓ choose a flow",
        Focus::Feed | Focus::Text | Focus::Steer => "↑↓ pgup pgdn scroll · ←→ role",
    };
    let answers = ask.filter(|_| state.focus == Focus::Asks);
    let answers = answers.map(|ask| hints(&ask.kind)).unwrap_or_default();
    let mut parts: Vec<String> = answers
        .iter()
        .map(|(key, words)| format!("{key} {words}"))
        .collect();
    if let (Focus::Asks, Some(own)) = (state.focus, &state.own) {
        let keys = own.keys().into_iter();
        parts.extend(keys.map(|(key, does)| format!("{key} {does}")));
    }
    let is_cut = |ask: &&AskView| said(ask, columns).len() > SAYS_LINES;
    if state.own.is_none() && ask.filter(is_cut).is_some() {
        parts.push("v all of it".to_owned());
    }
    parts.push(moves.to_owned());
    let feed = view
        .chosen
        .as_ref()
        .and_then(|flow| flow.feed(state.role.as_ref()));
    if feed.is_some() {
        parts.push("s steer".to_owned());
    }
    parts.push("tab next · q quit".to_owned());
    parts.join(BETWEEN)
}

/// The end of a text that fits into so many columns.
fn tail(text: &str, columns: usize) -> String {
    let shown = crate::text::plain(text).into_owned();
    let mut skipped = 0;
    while width(&shown[skipped..]) > columns {
        skipped += shown[skipped..].chars().next().map_or(1, char::len_utf8);
    }
    shown[skipped..].to_owned()
}

/// A line broken wherever it must be: nothing of it is left out.
pub(crate) fn wrap(line: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(2);
    let mut lines = vec![String::new()];
    let mut taken = 0;
    for letter in line.chars() {
        let letter_columns = width(letter.encode_utf8(&mut [0; 4]));
        if taken + letter_columns > columns {
            lines.push(String::new());
            taken = 0;
        }
        taken += letter_columns;
        if let Some(last) = lines.last_mut() {
            last.push(letter);
        }
    }
    lines
}
