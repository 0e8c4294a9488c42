use super::*;

fn content(text: &str) -> Arc<Content> {
    Arc::new(Content { files: [("SKILL.md".to_owned(), FileContent::text(text))].into() })
}

fn wanted(skills: &[(&str, &str)]) -> Wanted {
    let skills = skills
        .iter()
        .map(|(name, text)| WantedSkill {
            name: (*name).to_owned(),
            content: content(text),
            origin: "widget 1.0.0".to_owned(),
            path: format!("skills/{name}"),
            source: "team".to_owned(),
            parents: vec![0],
        })
        .collect();
    let parent = Parent { path: "/ws/.claude/skills".into(), shown: ".claude".to_owned() };
    Wanted { parents: vec![parent], skills, ..Wanted::default() }
}

/// What a disk holds after the plan was applied to an empty one.
fn installed(wanted: &Wanted) -> Disk {
    let mut disk = BTreeMap::new();
    for step in plan(wanted, &vec![BTreeMap::new()]).steps {
        let marker = String::from_utf8(step.files.files[MARKER].bytes.clone()).expect("UTF-8");
        let mut files = step.files.hashes();
        files.remove(MARKER);
        disk.insert(step.name, Found::Ours { marker: Marker::parse(&marker), files });
    }
    vec![disk]
}

fn actions(plan: &Plan) -> Vec<(Action, &str)> {
    plan.steps.iter().map(|step| (step.action, step.name.as_str())).collect()
}

fn edit(disk: &mut Disk, name: &str, change: impl FnOnce(&mut BTreeMap<String, String>)) {
    match disk[0].get_mut(name) {
        Some(Found::Ours { files, .. }) => change(files),
        other => panic!("{name}: {other:?}"),
    }
}

/// Whether applying it would change nothing.
fn is_empty(plan: &Plan) -> bool {
    !plan.steps.iter().any(|step| step.action.is_change())
}

#[test]
fn a_second_plan_is_empty() {
    let wanted = wanted(&[("a", "x")]);
    let first = plan(&wanted, &vec![BTreeMap::new()]);
    assert_eq!(actions(&first), [(Action::Install, "a")]);
    assert!(is_empty(&plan(&wanted, &installed(&wanted))));
}

#[test]
fn f55_decision_18_each_folder_gets_a_marker_and_ignore_files_of_its_own() {
    let first = plan(&wanted(&[("a", "x")]), &vec![BTreeMap::new()]);
    let files: Vec<_> = first.steps[0].files.files.keys().map(String::as_str).collect();
    assert_eq!(files, [".gitignore", ".ignore", ".symposium", "SKILL.md"]);
    let none = Wanted { ignore: SkillIgnore::None, ..wanted(&[("a", "x")]) };
    let first = plan(&none, &vec![BTreeMap::new()]);
    let files: Vec<_> = first.steps[0].files.files.keys().map(String::as_str).collect();
    assert_eq!(files, [".symposium", "SKILL.md"]);
}

#[test]
fn f74_a_changed_source_updates() {
    let disk = installed(&wanted(&[("a", "old")]));
    assert_eq!(actions(&plan(&wanted(&[("a", "new")]), &disk)), [(Action::Update, "a")]);
}

#[test]
fn case_80_an_edited_copy_is_kept_unless_forced() {
    let mut wanted = wanted(&[("a", "x")]);
    let mut disk = installed(&wanted);
    edit(&mut disk, "a", |files| {
        files.insert("SKILL.md".to_owned(), "mine".to_owned());
    });
    let kept = plan(&wanted, &disk);
    assert_eq!(actions(&kept), [(Action::Keep, "a")]);
    assert!(is_empty(&kept));
    wanted.force = true;
    assert_eq!(actions(&plan(&wanted, &disk)), [(Action::Update, "a")]);
}

#[test]
fn a_foreign_file_is_no_edit_unless_one_of_ours_would_take_its_place() {
    let old = wanted(&[("a", "x")]);
    let mut disk = installed(&old);
    let mut newer = wanted(&[("a", "y")]);
    let files = Arc::make_mut(&mut newer.skills[0].content);
    files.files.insert("scripts/run".to_owned(), FileContent::text("run"));
    let add = |disk: &mut Disk, path: &str, hash: &str| {
        edit(disk, "a", |files| drop(files.insert(path.to_owned(), hash.to_owned())));
    };
    for foreign in ["notes.md", "scripts/__pycache__/run.pyc", "SKILL.md~", "script"] {
        add(&mut disk, foreign, "theirs");
    }
    assert!(plan(&old, &disk).steps.is_empty());
    assert_eq!(actions(&plan(&newer, &disk)), [(Action::Update, "a")]);
    let gone = plan(&wanted(&[]), &disk);
    assert_eq!(actions(&gone), [(Action::Remove, "a")]);
    assert!(gone.steps[0].reason.as_deref().is_some_and(|why| why.contains("not ours stay")));
    for taken in ["scripts/run", "scripts", "scripts/run/deeper"] {
        let mut disk = disk.clone();
        add(&mut disk, taken, "theirs");
        let kept = plan(&newer, &disk);
        assert_eq!(actions(&kept), [(Action::Keep, "a")], "{taken}");
        let reason = kept.steps[0].reason.as_deref().unwrap_or_default();
        assert!(reason.contains(&format!("`{taken}`")), "{reason}");
        let forced = Wanted { force: true, ..newer.clone() };
        assert_eq!(actions(&plan(&forced, &disk)), [(Action::Update, "a")], "{taken}");
    }
}

#[test]
fn decision_36_a_deleted_file_is_an_edit_where_it_would_come_back() {
    let mut old = wanted(&[("a", "x")]);
    let more = &mut Arc::make_mut(&mut old.skills[0].content).files;
    more.insert("notes.md".to_owned(), FileContent::text("n"));
    let mut disk = installed(&old);
    edit(&mut disk, "a", |files| {
        files.remove("notes.md");
    });
    assert_eq!(actions(&plan(&old, &disk)), [(Action::Keep, "a")]);
    let forced = Wanted { force: true, ..old };
    assert_eq!(actions(&plan(&forced, &disk)), [(Action::Restore, "a")]);
    // Where it is no more, or all goes, nothing of the user's is lost.
    assert_eq!(actions(&plan(&wanted(&[("a", "y")]), &disk)), [(Action::Update, "a")]);
    assert_eq!(actions(&plan(&wanted(&[]), &disk)), [(Action::Remove, "a")]);
}

#[test]
fn f58_stale_folders_go_and_edited_ones_stay() {
    let mut disk = installed(&wanted(&[("a", "x"), ("b", "x")]));
    edit(&mut disk, "b", |files| {
        files.insert("SKILL.md".to_owned(), "mine".to_owned());
    });
    let plan = plan(&wanted(&[]), &disk);
    assert_eq!(actions(&plan), [(Action::Remove, "a"), (Action::Keep, "b")]);
}

#[test]
fn f58_a_folder_whose_marker_says_nothing_is_replaced_only_where_it_is_what_we_write() {
    let goal = wanted(&[("a", "x")]);
    let plain = plan(&goal, &vec![BTreeMap::new()]);
    let mut files = plain.steps[0].files.hashes();
    // As an older installation has it: an empty marker and no ignore files.
    files.retain(|path, _| path == "SKILL.md");
    let disk = |marker: &Marker, files: &BTreeMap<String, String>| {
        let found = Found::Ours { marker: marker.clone(), files: files.clone() };
        vec![[("a".to_owned(), found)].into()]
    };
    let damaged = Marker { damaged: true, ..Marker::default() };
    let edited = [("SKILL.md".to_owned(), "mine".to_owned())].into();
    for marker in [&Marker::default(), &damaged] {
        assert_eq!(actions(&plan(&goal, &disk(marker, &files))), [(Action::Update, "a")]);
        let kept = plan(&goal, &disk(marker, &edited));
        assert_eq!(actions(&kept), [(Action::Keep, "a")]);
        assert!(kept.steps[0].reason.as_deref().is_some_and(|why| why.contains("--force")));
    }
    let gone = |marker: &Marker| plan(&wanted(&[]), &disk(marker, &edited));
    assert_eq!(actions(&gone(&Marker::default())), [(Action::Remove, "a")]);
    assert_eq!(actions(&gone(&damaged)), [(Action::Keep, "a")]);
}

#[test]
fn f59_f81_what_has_no_marker_is_never_touched() {
    let disk = vec![[("a".to_owned(), Found::Theirs), ("b".to_owned(), Found::Theirs)].into()];
    let plan = plan(&wanted(&[("a", "x")]), &disk);
    assert_eq!(actions(&plan), [(Action::Skip, "a")]);
    assert!(is_empty(&plan));
}

#[test]
fn what_a_killed_run_left_is_cleaned_up_in_silence() {
    let disk = vec![[(".symposium-new-a".to_owned(), Found::Leftover)].into()];
    let plan = plan(&wanted(&[]), &disk);
    assert_eq!(actions(&plan), [(Action::Remove, ".symposium-new-a")]);
    assert!(plan.changes().is_empty());
}

#[test]
fn folders_of_agents_that_were_not_asked_for_are_spared() {
    let disk = installed(&wanted(&[("a", "x")]));
    let protected = Wanted { protected: [0].into(), ..wanted(&[]) };
    assert!(plan(&protected, &disk).steps.is_empty());
}

#[test]
fn what_a_source_brought_that_can_not_be_read_stays() {
    let disk = installed(&wanted(&[("a", "x")]));
    let lacking = |source: &str| [(source.to_owned(), "away".to_owned())].into();
    let away = Wanted { unavailable: lacking("team"), ..wanted(&[]) };
    let kept = plan(&away, &disk);
    assert!(is_empty(&kept));
    assert_eq!(kept.changes()[0].reason.as_deref(), Some("away"));
    let other = Wanted { unavailable: lacking("other"), ..wanted(&[]) };
    assert_eq!(plan(&other, &disk).steps[0].action, Action::Remove);
}
