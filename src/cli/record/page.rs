//! The page of `sublet bench report`: text from records, nothing else.

use super::all::shown;
use super::{Measurement, Record};

/// What a group measures, in the order of the page.
const GROUPS: [(&str, &str); 5] = [
    ("plan", "Planning: bytes of the plan beside its lower bound and the sum of all tensors; time to plan"),
    ("memory", "Memory on the device, one chain: lower bound, plan, arenas, allocator"),
    ("run", "Running: compile, the first run, the median of later runs, encoding"),
    ("layouts", "The three lawful layouts"),
    (
        "arena",
        "An allocation and its release: by profile, in overflow, in other allocators, as a wgpu buffer",
    ),
];

const STYLE: &str = include_str!("page.css");

/// One self-contained page: a column a record, a row a measurement.
pub(super) fn page(records: &[Record]) -> String {
    let mut groups: Vec<(&str, &str)> = GROUPS.to_vec();
    for measurement in records.iter().flat_map(|record| &record.measurements) {
        if !groups.iter().any(|(group, _)| *group == measurement.group) {
            groups.push((&measurement.group, ""));
        }
    }
    let mut body = machines(records);
    for (group, about) in groups {
        body.push_str(&table(records, group, about));
    }
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>sublet bench</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n<h1>sublet bench</h1>\n\
         <p>Bytes are exact; times are medians where a row says so. Bars compare the records of one row: \
         the longest is the largest. docs/BENCHMARK.md says what is counted.</p>\n{body}</body>\n</html>\n"
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// What each record was measured on and with.
fn machines(records: &[Record]) -> String {
    let mut text = String::from("<h2>Records</h2>\n<table>\n<tr><th></th>");
    for record in records {
        text.push_str(&format!("<th>{}</th>", escaped(&record.host.machine)));
    }
    text.push_str("</tr>\n");
    let mut row = |name: &str, cell: &dyn Fn(&Record) -> Option<String>| {
        text.push_str(&format!("<tr><th>{name}</th>"));
        for record in records {
            text.push_str(&format!("<td>{}</td>", escaped(&cell(record).unwrap_or_else(|| "-".to_owned()))));
        }
        text.push_str("</tr>\n");
    };
    row("machine", &|r| Some(r.host.describe()));
    row("adapter", &|r| r.adapter.as_ref().map(|a| format!("{} ({}, {})", a.name, a.backend, a.kind)));
    row("driver", &|r| r.adapter.as_ref().map(|a| a.driver.clone()));
    row("load, start to end", &|r| r.host.load());
    row("sublet", &|r| Some(format!("{}, {} build", r.program.version, r.program.build)));
    row("commit", &|r| r.program.commit.clone());
    row("command", &|r| Some(r.command.clone()));
    row("date", &|r| Some(r.date.clone()));
    row("note", &|r| r.note.clone());
    text.push_str("</table>\n");
    text
}

/// One group's measurements; nothing where no record has any.
fn table(records: &[Record], group: &str, about: &str) -> String {
    let mut rows: Vec<(&str, &str)> = Vec::new();
    for m in records.iter().flat_map(|record| &record.measurements).filter(|m| m.group == group) {
        if !rows.contains(&(&m.subject, &m.metric)) {
            rows.push((&m.subject, &m.metric));
        }
    }
    if rows.is_empty() {
        return String::new();
    }
    let mut text = format!("<h2>{}</h2>\n<p>{}</p>\n<table>\n", escaped(group), escaped(about));
    text.push_str("<tr><th></th><th></th>");
    for record in records {
        let adapter = record.adapter.as_ref().map_or("", |a| a.name.as_str());
        text.push_str(&format!(
            "<th>{}<br><small>{}</small></th>",
            escaped(&record.host.machine),
            escaped(adapter)
        ));
    }
    text.push_str("</tr>\n");
    let mut before = "";
    for (subject, metric) in rows {
        let name = if subject == before { "" } else { subject };
        before = subject;
        let found: Vec<Option<&Measurement>> = records
            .iter()
            .map(|r| {
                let same = |m: &&Measurement| (m.group.as_str(), m.subject.as_str()) == (group, subject);
                r.measurements.iter().filter(same).find(|m| m.metric == metric)
            })
            .collect();
        let most = found.iter().flatten().map(|m| m.value).fold(0.0, f64::max);
        text.push_str(&format!(
            "<tr><th>{}</th><th class=\"metric\">{}</th>",
            escaped(name),
            escaped(metric)
        ));
        text.extend(found.into_iter().map(|m| cell(m, most)));
        text.push_str("</tr>\n");
    }
    text.push_str("</table>\n");
    text
}

/// A number over its bar.
fn cell(measurement: Option<&Measurement>, most: f64) -> String {
    let Some(m) = measurement else { return "<td>-</td>".to_owned() };
    let share = if most > 0.0 { m.value / most * 100.0 } else { 0.0 };
    let repeats = match m.repeats {
        1 => String::new(),
        n => format!(" <small>median of {n}</small>"),
    };
    format!("<td>{}{repeats}<div class=\"bar\" style=\"width:{share:.1}%\"></div></td>", escaped(&shown(m)))
}

#[cfg(test)]
mod tests {
    use super::super::Record;
    use super::page;

    #[test]
    fn a_page_has_every_number_escaped_and_fetches_nothing() {
        let [mut one, mut two] =
            ["laptop", "desk"].map(|name| Record::new(name, None, Some("<b> & \"c\"".into())));
        one.push("run", "unet", "run_s", Some(0.5), 3);
        two.push("run", "unet", "run_s", Some(0.25), 10);
        two.push("plan", "unet", "peak_bytes", Some(1_048_576.0), 1);
        two.push("other", "x", "things", Some(7.0), 1);
        let html = page(&[one, two]);
        assert!(html.contains("&lt;b&gt; &amp; &quot;c&quot;") && !html.contains("<b> &"), "{html}");
        assert!(
            html.contains("500.0 ms <small>median of 3</small><div class=\"bar\" style=\"width:100.0%\">")
        );
        assert!(
            html.contains("250.0 ms <small>median of 10</small><div class=\"bar\" style=\"width:50.0%\">")
        );
        assert!(html.contains("1.000 MiB") && html.contains("1,048,576 bytes"), "{html}");
        assert!(html.contains("<h2>other</h2>"), "groups that are not known have a table too");
        for outside in ["http:", "https:", "<script", "<link", "src=", "@import", "url("] {
            assert!(!html.contains(outside), "{outside}");
        }
        assert!(html.contains("prefers-color-scheme: dark"));
        assert_eq!(html.matches("<table>").count(), html.matches("</table>").count());
    }
}
