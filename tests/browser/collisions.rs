//! Every kind of collision in the browser: refused as it was written, right when it was made lawful.

use super::browser::{Server, Site};
use super::native_judge::NativeJudge;
use super::random_dispatches::{Binding, Case, Command};
use super::support::collisions::{Collision, all, controls};
use super::support::launches::Launch;
use super::{folder, posted, rule_of};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;
use sublet::legal::{Access, Rule, check};

/// Dispatches of a collision in one of its forms, as a job of the judge page.
fn job(collision: &Collision, index: usize, form: &str, launches: &[Launch]) -> Value {
    let size = |data: &Vec<f32>| data.len() * 4;
    let contents = |(i, data)| json!({ "url": format!("contents/{index}/{i}"), "size": size(data) });
    json!({
        "limits": { "maxStorageBuffersPerShaderStage": collision.limits.max_windows },
        "contents": collision.buffers.iter().enumerate().map(contents).collect::<Vec<_>>(),
        "launches": launches.iter().map(Launch::json).collect::<Vec<_>>(),
        "target": collision.target(),
        "url": format!("left/{index}/{form}"),
    })
}

/// What the three judges say to one dispatch.
struct Verdicts {
    check: Vec<Rule>,
    chromium: Option<String>,
    wgpu: Option<String>,
}

impl Verdicts {
    fn new(collision: &Collision, launch: &Launch, chromium: &Value) -> Self {
        let limits = collision.binding_limits();
        let mut rules: Vec<Rule> = Vec::new();
        for violation in check(collision.name, &launch.ranges(), launch.workgroups, &limits) {
            if !rules.contains(&violation.rule) {
                rules.push(violation.rule);
            }
        }
        let chromium = chromium.as_str().map(str::to_owned);
        Verdicts { check: rules, chromium, wgpu: wgpu(collision, launch) }
    }

    /// `check` and Chromium agree, on the rule too where Chromium's wording tells it.
    fn assert_agreement(&self, what: &str) {
        let Verdicts { check, chromium, .. } = self;
        assert_eq!(check.is_empty(), chromium.is_none(), "{what}: {check:?}, {chromium:?}");
        if let Some(rule) = chromium.as_deref().and_then(rule_of) {
            assert!(check.contains(&rule), "{what}: {check:?}, {chromium:?}");
        }
    }

    /// Cells of a table: rules, then Chromium's and wgpu's answer.
    fn cells(&self) -> String {
        let rules: Vec<String> = self.check.iter().map(|rule| format!("{rule:?}")).collect();
        let check = if rules.is_empty() { "lawful".to_owned() } else { rules.join(", ") };
        let says = |refusal: &Option<String>| if refusal.is_some() { "refuses" } else { "accepts" };
        let wgpu = match (&self.wgpu, check.as_str()) {
            (None, "lawful") | (Some(_), _) => says(&self.wgpu).to_owned(),
            (None, _) => "**accepts**".to_owned(),
        };
        format!("{check} | {} | {wgpu}", says(&self.chromium))
    }
}

/// The message of wgpu's validation, if it refuses.
fn wgpu(collision: &Collision, launch: &Launch) -> Option<String> {
    let mut sizes: Vec<u64> = collision.buffers.iter().map(|data| data.len() as u64 * 4).collect();
    let (params, params_bytes) = (sizes.len(), launch.params.len() as u64 * 4);
    sizes.push(params_bytes.max(4));
    let block = Binding { buffer: params, offset: 0, size: params_bytes, access: Access::Uniform };
    let storage = launch.ranges().into_iter().map(|range| Binding {
        buffer: range.buffer,
        offset: range.bytes.start,
        size: range.bytes.end - range.bytes.start,
        access: range.access,
    });
    let bindings = (params_bytes > 0).then_some(block).into_iter().chain(storage).collect();
    let command = Command::Dispatch { bindings, workgroups: launch.workgroups };
    let judge = NativeJudge::with(wgpu::Limits {
        max_storage_buffers_per_shader_stage: collision.limits.max_windows as u32,
        ..wgpu::Limits::default()
    });
    judge.refusal(&Case { situation: collision.name, sizes, command })?.err()
}

/// The bytes left in the written buffer are the right ones, those outside the output included.
fn assert_right(collision: &Collision, form: &str, left: Option<&Vec<u8>>) {
    let name = collision.name;
    let left = left.unwrap_or_else(|| panic!("{name} {form}: nothing was left"));
    let words: Vec<u32> =
        left.chunks_exact(4).map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]])).collect();
    let want = collision.target_after();
    assert_eq!(words.len(), want.len(), "{name} {form}");
    let differ = want.iter().zip(&words).position(|(want, got)| want.to_bits() != *got);
    if let Some(at) = differ {
        panic!("{name} {form}: element {at} is {}, not {}", f32::from_bits(words[at]), want[at]);
    }
}

const FORMS: usize = 3;

/// Asks Chromium for all forms of all: as written, with everything writable, and lawful.
fn ask(collisions: &[Collision]) -> (Vec<Value>, BTreeMap<String, Vec<u8>>) {
    let mut site = Site { folders: vec![("", folder("examples/web"))], ..Site::default() };
    let mut runs = Vec::new();
    for (index, collision) in collisions.iter().enumerate() {
        for (i, data) in collision.buffers.iter().enumerate() {
            let bytes = bytemuck::cast_slice(data).to_vec();
            site.made.insert(format!("contents/{index}/{i}"), bytes);
        }
        runs.push(job(collision, index, "plain", &[collision.plain()]));
        runs.push(job(collision, index, "writable", &[collision.writable()]));
        runs.push(job(collision, index, "lawful", &collision.lawful()));
    }
    let wanted = json!({ "limits": [], "cases": [], "shaders": [], "runs": runs });
    site.made.insert("dispatches.json".into(), wanted.to_string().into_bytes());
    let (answer, left) = posted(&Server::start(site), "judge.html", Duration::from_secs(240));
    let verdicts = answer["runs"].as_array().expect("a list of verdicts").clone();
    assert_eq!(verdicts.len(), collisions.len() * FORMS);
    (verdicts, left)
}

#[test]
#[ignore = "needs headless Chromium; scripts/test browser runs it"]
fn collisions_are_refused_in_chromium_as_written_and_right_when_lawful() {
    let collisions: Vec<Collision> = all().into_iter().chain(controls()).collect();
    let (verdicts, left) = ask(&collisions);
    let mut rows = vec![
        "| situation | as written: check | Chromium | wgpu | written buffer all writable: \
                         check | Chromium | wgpu |"
            .to_owned(),
    ];
    rows.push("|---|---|---|---|---|---|---|".to_owned());
    for (index, (collision, verdicts)) in collisions.iter().zip(verdicts.chunks(FORMS)).enumerate() {
        let name = collision.name;
        let plain = Verdicts::new(collision, &collision.plain(), &verdicts[0]);
        plain.assert_agreement(name);
        let writable = Verdicts::new(collision, &collision.writable(), &verdicts[1]);
        writable.assert_agreement(&format!("{name}, all writable"));
        assert_eq!(verdicts[2], Value::Null, "{name} lawful");
        assert_right(collision, "lawful", left.get(&format!("left/{index}/lawful")));
        if collision.rules.is_empty() {
            assert_right(collision, "plain", left.get(&format!("left/{index}/plain")));
        }
        rows.push(format!("| {name} | {} | {} |", plain.cells(), writable.cells()));
    }
    println!("{}", rows.join("\n"));
    let compare = std::fs::read_to_string(folder("docs/COMPARE.md")).expect("it is in the repository");
    for row in rows {
        assert!(compare.lines().any(|line| line == row), "docs/COMPARE.md lacks the row\n{row}");
    }
}
