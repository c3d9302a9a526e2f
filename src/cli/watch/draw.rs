//! The screen of `watch`, drawn from what it shows and what the operator does: pure, so that whole
//! screens are snapshots. Signs and words show states; colour only repeats them.

use a_society_facts::view::standing::FlowStanding;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::card;
use super::feed::{self, Weight};
use super::hints;
use super::keys::{Focus, State};
use super::layout::{self, Layout};
use super::rows::{self, Rows};
use super::view::{AskView, FlowView, View, name};
use crate::text::{money, one_line, width, wrapped};

/// Draws everything.
pub(crate) fn draw(frame: &mut Frame<'_>, view: &View, state: &State, colours: bool) {
    let layout = Layout::of(view, state);
    let paint = Paint { colours };
    if layout.is_tiny {
        let small = "the terminal is smaller than 30 by 9; q ends";
        frame.render_widget(
            Paragraph::new(one_line(small, usize::from(state.columns))),
            layout.head,
        );
        return;
    }
    frame.render_widget(heading(view, state, paint), layout.head);
    for (part, area) in &layout.parts {
        draw_part(frame, *part, *area, view, state, paint);
    }
    if let (Some(ask), Some(area)) = (state.asked(view), layout.card) {
        draw_card(frame, area, ask, state, paint);
    }
    if state.help {
        draw_help(frame, &layout, state, paint);
    }
    let columns = usize::from(layout.told.width);
    let told = match layout.told.height {
        1 => vec![one_line(&state.told, columns)],
        _ => wrapped(&state.told, columns),
    };
    let told = told.into_iter();
    let told: Vec<Line<'_>> = told.map(|line| Line::styled(line, paint.bold())).collect();
    frame.render_widget(Paragraph::new(told), layout.told);
    let keys = layout.hints.iter();
    let keys = keys.map(|row| one_line(row, usize::from(layout.keys.width)));
    let keys: Vec<Line<'_>> = keys.map(|row| Line::styled(row, paint.dim())).collect();
    frame.render_widget(Paragraph::new(keys), layout.keys);
    if let Some((before, text)) = typed(state) {
        let room = usize::from(layout.told.width).saturating_sub(width(&before) + 1);
        let typed = format!("{before}{}", tail(text, room));
        let column = u16::try_from(width(&typed)).unwrap_or(u16::MAX);
        let blank = " ".repeat(usize::from(layout.told.width).saturating_sub(width(&typed)));
        frame.render_widget(Line::from(format!("{typed}{blank}")), layout.told);
        frame.set_cursor_position((layout.told.x.saturating_add(column), layout.told.y));
    }
}

/// The text that is typed, and the prompt before it.
fn typed(state: &State) -> Option<(String, &str)> {
    match (state.focus, &state.steered) {
        (Focus::Text, _) => Some(("> ".to_owned(), &state.text)),
        (Focus::Steer, Some(to)) => {
            let role = one_line(to.role.as_str(), usize::from(state.columns) / 2);
            Some((format!("to {role}> "), &state.words))
        }
        (Focus::Filter, _) => Some(("/".to_owned(), &state.filter)),
        (Focus::Command, _) => Some((":".to_owned(), &state.command)),
        (
            Focus::Asks
            | Focus::Flows
            | Focus::Nodes
            | Focus::Feed
            | Focus::Cost
            | Focus::Files
            | Focus::Steer,
            _,
        ) => None,
    }
}

/// How things are painted, with or without colours.
#[derive(Debug, Clone, Copy)]
pub(super) struct Paint {
    colours: bool,
}

impl Paint {
    pub(super) fn bold(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    pub(super) fn dim(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    pub(super) fn wanted(self) -> Style {
        self.coloured(Color::Yellow)
    }

    pub(super) fn wrong(self) -> Style {
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

/// How much there is of everything, in the order in which it matters.
fn counts(view: &View) -> Vec<String> {
    let standing = |is: fn(&FlowStanding) -> bool| {
        let standing = view.flows.iter().filter_map(|line| line.standing.as_ref());
        standing.filter(|standing| is(standing)).count()
    };
    let at_work = standing(|standing| {
        matches!(
            standing,
            FlowStanding::Working | FlowStanding::Retrying(_) | FlowStanding::Compacting
        )
    });
    let stopped = standing(|standing| *standing == FlowStanding::Stopped);
    let limited = standing(|standing| matches!(standing, FlowStanding::Limited(_)));
    let paused = standing(|standing| *standing == FlowStanding::Paused);
    let unreadable = view.flows.iter().filter(|line| line.standing.is_none());
    let needs = view.asks.len();
    let counts = [
        (needs, if needs == 1 { "needs you" } else { "need you" }),
        (at_work, "at work"),
        (stopped, "stopped"),
        (limited, "at a limit"),
        (paused, "paused"),
        (unreadable.count(), "unreadable"),
    ];
    let counts = counts.into_iter().filter(|(number, _)| *number > 0);
    let counts: Vec<String> = counts
        .map(|(number, words)| format!("{number} {words}"))
        .collect();
    if counts.is_empty() {
        vec!["nothing needs you".to_owned()]
    } else {
        counts
    }
}

/// So many counts are worth more than what today cost.
const COUNTS_FIRST: usize = 3;

/// The first row. What does not fit is left out from its end, and the money before the first counts are.
fn heading(view: &View, state: &State, paint: Paint) -> Line<'static> {
    let columns = usize::from(state.columns);
    let mut left = "a-society".to_owned();
    let mut today = String::new();
    for (at, count) in counts(view).into_iter().enumerate() {
        if at == COUNTS_FIRST {
            today = spent_today(view, columns.saturating_sub(width(&left)));
        }
        let part = format!("{}{count}", if at == 0 { "  " } else { " · " });
        let room = columns.saturating_sub(width(&left) + width(&today));
        if width(&part) <= room {
            left.push_str(&part);
        }
    }
    if today.is_empty() {
        today = spent_today(view, columns.saturating_sub(width(&left)));
    }
    let gap = columns.saturating_sub(width(&left) + width(&today));
    let style = if view.asks.is_empty() {
        paint.bold()
    } else {
        paint.wanted()
    };
    Line::from(vec![
        Span::styled(left, style),
        Span::raw(" ".repeat(gap)),
        Span::raw(today),
    ])
}

/// What today cost, if it is known and there is room for it.
fn spent_today(view: &View, room: usize) -> String {
    let today = view
        .today_micros
        .map(|micros| format!("  {} today", money(micros)));
    today
        .filter(|today| width(today) <= room)
        .unwrap_or_default()
}

/// The heading of a part: its name, a rule, and its place.
fn rule(title: &str, place: &str, columns: usize) -> String {
    let place = if place.is_empty() {
        String::new()
    } else {
        format!(" {place}")
    };
    let title = one_line(title, columns.saturating_sub(width(&place) + 2));
    let fill = columns.saturating_sub(width(&title) + width(&place) + 1);
    format!("{title} {}{place}", "-".repeat(fill))
}

/// A list with its heading, so that the row of a number is among those that are shown.
fn list(
    frame: &mut Frame<'_>,
    area: Rect,
    title: &str,
    style: Style,
    Rows {
        lines,
        at,
        is_empty,
    }: Rows,
) {
    let rows = usize::from(area.height.saturating_sub(1));
    let all = lines.len();
    let skipped = at
        .saturating_sub(rows.saturating_sub(1))
        .min(all.saturating_sub(rows));
    let shown = lines.into_iter().skip(skipped).take(rows);
    let shown: Vec<Line<'_>> = shown
        .map(|(style, line)| Line::styled(line, style))
        .collect();
    let place = match shown.len() {
        0 => String::new(),
        shown => format!("{}-{}/{all}", skipped + 1, skipped + shown),
    };
    let place = if is_empty { String::new() } else { place };
    let heading = rule(title, &place, usize::from(area.width));
    let lines: Vec<Line<'_>> = std::iter::once(Line::styled(heading, style))
        .chain(shown)
        .collect();
    frame.render_widget(Paragraph::new(lines), area);
}

fn draw_part(
    frame: &mut Frame<'_>,
    part: Focus,
    area: Rect,
    view: &View,
    state: &State,
    paint: Paint,
) {
    let has_keys = state.focus == part || (state.focus.is_field() && state.before == part);
    let style = if has_keys { paint.bold() } else { paint.dim() };
    let columns = usize::from(area.width);
    let flow = view.chosen.as_ref();
    let (title, rows) = match part {
        Focus::Asks => {
            let title = filtered("NEED YOU", state);
            (title, rows::asks(view, state, columns, paint))
        }
        Focus::Flows => {
            let title = filtered("FLOWS", state);
            (title, rows::flows(view, state, columns, paint))
        }
        Focus::Nodes => {
            let Some(flow) = flow else { return };
            let status = view.line(&flow.flow).map_or("", |line| &line.status);
            let parts = [&name(&flow.flow), status, &flow.spent, &flow.title];
            let parts = parts.into_iter().filter(|part| !part.is_empty());
            let title = parts.collect::<Vec<_>>().join(" · ");
            (title, rows::nodes(flow, state, columns, paint))
        }
        Focus::Cost => {
            let lines = flow.map_or(&[][..], |flow| &flow.cost);
            let rows = table(lines, state, part, "no model was asked yet", paint);
            ("COST".to_owned(), rows)
        }
        Focus::Files => {
            let lines = flow.map_or(&[][..], |flow| &flow.files);
            let rows = table(lines, state, part, "no file yet", paint);
            ("FILES OF THE RECORD".to_owned(), rows)
        }
        Focus::Feed | Focus::Text | Focus::Steer | Focus::Filter | Focus::Command => {
            draw_feed(frame, area, view, state, flow, style, paint);
            return;
        }
    };
    list(frame, area, &title, style, rows);
}

/// A title, with the filter that its list goes by.
fn filtered(title: &str, state: &State) -> String {
    if state.filter.is_empty() {
        title.to_owned()
    } else {
        format!("{title} /{}", state.filter)
    }
}

/// Lines that are shown as they are, down to the one to which they are scrolled.
fn table(lines: &[String], state: &State, part: Focus, empty: &str, paint: Paint) -> Rows {
    if lines.is_empty() {
        return rows::nothing(empty, paint);
    }
    Rows {
        lines: lines
            .iter()
            .map(|line| (Style::new(), line.clone()))
            .collect(),
        at: if state.focus == part { state.down } else { 0 },
        is_empty: false,
    }
}

fn draw_feed(
    frame: &mut Frame<'_>,
    area: Rect,
    view: &View,
    state: &State,
    flow: Option<&FlowView>,
    style: Style,
    paint: Paint,
) {
    let feed = feed::shown(view, state);
    let title = match (feed, flow) {
        (Some(feed), Some(flow)) => {
            format!(
                "{} · {}",
                feed.role.as_str().to_uppercase(),
                name(&flow.flow)
            )
        }
        (_, Some(flow)) => name(&flow.flow),
        (_, None) => "FEED".to_owned(),
    };
    let columns = usize::from(area.width);
    let rows = usize::from(area.height.saturating_sub(1));
    let up = state.feed_up;
    let mut lines = feed::last_lines(view, state, columns, rows.saturating_add(up));
    let up = up.min(lines.len().saturating_sub(rows));
    lines.truncate(lines.len() - up);
    let skipped = lines.len().saturating_sub(rows);
    let shown = lines.into_iter().skip(skipped).map(|(weight, line)| {
        let style = match weight {
            Weight::Head => paint.bold(),
            Weight::Wrong => paint.wrong(),
            Weight::Text => Style::new(),
        };
        Line::styled(line, style)
    });
    let place = match (&state.held, up) {
        (None, _) if feed.is_none() => String::new(),
        (None, _) => "following".to_owned(),
        (Some(_), 0) => "held, G follows".to_owned(),
        (Some(_), up) => format!("held, {up} below"),
    };
    let heading = Line::styled(rule(&title, &place, columns), style);
    let lines: Vec<Line<'_>> = std::iter::once(heading).chain(shown).collect();
    frame.render_widget(Paragraph::new(lines), area);
}

fn draw_card(frame: &mut Frame<'_>, area: Rect, ask: &AskView, state: &State, paint: Paint) {
    let columns = usize::from(area.width);
    let said = card::said(ask, state.columns);
    let rows = layout::says_rows(state);
    let down = state.says_down.min(said.len().saturating_sub(rows));
    let place = if said.len() > rows {
        format!("lines {}-{}/{}", down + 1, down + rows, said.len())
    } else {
        String::new()
    };
    let heading = rule(&format!("◆ {}", ask.head), &place, columns);
    let mut lines = vec![Line::styled(heading, paint.wanted())];
    let said = said.into_iter().skip(down).take(rows);
    lines.extend(said.map(Line::from));
    let scope = card::scope(ask, state.columns).into_iter();
    lines.extend(scope.map(|line| Line::styled(line, paint.dim())));
    frame.render_widget(Paragraph::new(lines), area);
}

/// All keys, over everything but the message and the hints.
fn draw_help(frame: &mut Frame<'_>, layout: &Layout, state: &State, paint: Paint) {
    let area = Rect {
        height: layout.told.y,
        ..layout.head
    };
    let columns = usize::from(area.width);
    let rows = usize::from(area.height.saturating_sub(1));
    let lines = hints::ALL.iter().flat_map(|(key, does)| {
        let room = columns.saturating_sub(rows::KEY_COLUMNS);
        let wrapped = wrapped(does, room).into_iter().enumerate();
        wrapped.map(move |(at, line)| {
            let key = if at == 0 { key } else { "" };
            format!("{}{line}", rows::padded(key, rows::KEY_COLUMNS))
        })
    });
    let lines: Vec<String> = lines.collect();
    let all = lines.len();
    let skipped = state.down.min(all.saturating_sub(rows));
    let shown = lines.into_iter().skip(skipped).take(rows);
    let place = format!("{}-{}/{all}", skipped + 1, (skipped + rows).min(all));
    let heading = Line::styled(rule("KEYS", &place, columns), paint.bold());
    let blank = |line: String| Line::from(rows::padded(&line, columns));
    let mut lines: Vec<Line<'_>> = std::iter::once(heading).chain(shown.map(blank)).collect();
    lines.resize(usize::from(area.height), Line::from(" ".repeat(columns)));
    frame.render_widget(Paragraph::new(lines), area);
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
