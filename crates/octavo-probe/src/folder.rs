//! Samples in a folder, as `octavo calibrate` keeps them: a table, a description of the machine, and CUPTI's records.

use std::collections::BTreeMap;
use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use octavo_gpu::{Activity, Column, Fact, Facts};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tempfile::{Builder, NamedTempFile};

use crate::digest::{self, Entry};
use crate::failure::Failure;
use crate::lock::Lock;
use crate::origin::Origin;
use crate::table;

/// `SAMPLES_FORMAT` of `octavo.calibrate`.
const FORMAT: u32 = 1;

/// Files under construction begin so.
const UNFINISHED: &str = ".octavo-probe-";

/// The endings of file names next to a sidecar.
const DATA: [&str; 2] = ["parquet", "activity.bin"];

/// The sidecar's entry for a table in a file next to it. Once it exists, the probe is finished.
#[derive(Serialize)]
pub struct Sidecar {
    format: u32,
    pub probe: &'static str,
    /// Day on which it was measured, such as `2026-11-21`.
    pub date: String,
    pub origin: Origin,
    pub device: Map<String, Value>,
    pub host: Map<String, Value>,
    /// Series that could not be measured here, each with the reason.
    pub skipped: Map<String, Value>,
    activity: Option<Recorded>,
    /// The entries of the probe's other files, by name.
    files: BTreeMap<String, Entry>,
}

/// The sidecar's entry for CUPTI's records.
#[derive(Serialize)]
struct Recorded {
    cupti: u32,
    dropped: u64,
    layout: &'static str,
}

/// The part of another sidecar that is read.
#[derive(Deserialize)]
struct Finished {
    origin: Origin,
    /// None in samples of earlier versions.
    #[serde(default)]
    files: BTreeMap<String, Entry>,
    check: Option<String>,
}

impl Finished {
    /// Names of the files next to it; those of earlier versions do not list them.
    fn listed(self, probe: &str) -> Vec<String> {
        if self.files.is_empty() {
            return DATA.map(|ending| format!("{probe}.{ending}")).to_vec();
        }
        self.files.into_keys().collect()
    }
}

/// A sidecar that is what this program wrote.
fn finished(path: &Path, text: &[u8]) -> Result<Finished, Failure> {
    let damaged = |reason: String| {
        Failure::file(path, format!("is damaged, or no sidecar of octavo-probe: {reason}; remove it to measure again"))
    };
    let object: Value = serde_json::from_slice(text).map_err(|error| damaged(error.to_string()))?;
    let actual = digest::check(&object);
    let found: Finished = serde_json::from_value(object).map_err(|error| damaged(error.to_string()))?;
    match &found.check {
        Some(expected) if *expected != actual => {
            Err(damaged(format!("expected contents with `check` {expected}, found others")))
        }
        _ => Ok(found),
    }
}

impl Sidecar {
    pub fn new(probe: &'static str, date: String, origin: Origin, device: Facts, host: Facts) -> Self {
        let (device, host, skipped) = (object(device), object(host), Map::new());
        Self { format: FORMAT, probe, date, origin, device, host, skipped, activity: None, files: BTreeMap::new() }
    }
}

fn object(facts: Facts) -> Map<String, Value> {
    let value = |fact| match fact {
        Some(Fact::Number(number)) => Value::from(number),
        Some(Fact::Words(words)) => Value::from(words),
        Some(Fact::Is(so)) => Value::from(so),
        None => Value::Null,
    };
    facts.into_iter().map(|(name, fact)| (name.to_owned(), value(fact))).collect()
}

/// Where samples go.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new(path: &Path) -> Self {
        Self(path.to_owned())
    }

    /// Makes it, for this process alone while the lock lives.
    pub fn lock(&self) -> Result<Lock, Failure> {
        if let (Ok(there), false) = (fs::read_link(&self.0), self.0.exists()) {
            let there = there.display();
            let reason = format!("is a symbolic link to {there}, which does not exist; choose another folder with -o");
            return Err(Failure::file(&self.0, reason));
        }
        fs::create_dir_all(&self.0).and_then(|()| Lock::take(&self.0)).map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock => Failure::file(&self.0, "another process measures into this folder"),
            _ => Failure::file(&self.0, error),
        })
    }

    /// Removes the remains of a measurement that was killed.
    pub fn prepare(&self) -> Result<(), Failure> {
        self.try_to_prepare().map_err(|error| Failure::file(&self.0, error))
    }

    fn try_to_prepare(&self) -> io::Result<()> {
        for entry in fs::read_dir(&self.0)? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with(UNFINISHED) {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }

    /// The origin of a finished probe's samples, once its files are known to be unchanged.
    pub fn origin_of(&self, probe: &str) -> Result<Option<Origin>, Failure> {
        let path = self.path(probe, "json");
        match fs::read(&path) {
            Ok(text) => self.checked(&path, &text).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Failure::file(&path, error)),
        }
    }

    fn checked(&self, path: &Path, text: &[u8]) -> Result<Origin, Failure> {
        let damaged = |path: &Path, reason: String| {
            Failure::file(path, format!("is damaged: {reason}; --force measures it again"))
        };
        let found = finished(path, text)?;
        for (name, expected) in &found.files {
            let path = self.0.join(name);
            let actual = Entry::of(&path).map_err(|error| damaged(&path, error.to_string()))?;
            if actual != *expected {
                return Err(damaged(&path, format!("expected {expected}, found {actual}")));
            }
        }
        Ok(found.origin)
    }

    /// Makes sure that all files of a probe, if there are any, are of this program: its sidecar says so.
    pub fn check_replaceable(&self, probe: &str) -> Result<(), Failure> {
        let path = self.path(probe, "json");
        let listed = match fs::read(&path) {
            Ok(text) => finished(&path, &text)?.listed(probe),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(Failure::file(&path, error)),
        };
        for name in DATA.map(|ending| format!("{probe}.{ending}")) {
            let path = self.0.join(&name);
            if fs::symlink_metadata(&path).is_ok() && !listed.contains(&name) {
                let reason = "is there already, and no sample of octavo-probe; move it away, or choose another folder";
                return Err(Failure::file(&path, format!("{reason} with -o")));
            }
        }
        Ok(())
    }

    /// A probe is no longer finished: it is about to be measured again.
    pub fn discard(&self, probe: &str) -> Result<(), Failure> {
        self.check_replaceable(probe)?;
        // The sidecar goes first: without it, nothing says that a probe is finished.
        for ending in ["json"].into_iter().chain(DATA) {
            let path = self.path(probe, ending);
            let gone = fs::remove_file(&path).or_else(|error| match error.kind() {
                io::ErrorKind::NotFound => Ok(()),
                _ => Err(error),
            });
            gone.map_err(|error| Failure::file(&path, error))?;
        }
        Ok(())
    }

    /// Writes all of a probe; its sidecar comes last and vouches for the other files.
    pub fn keep(
        &self,
        mut sidecar: Sidecar,
        columns: Vec<(&'static str, Column)>,
        activity: Option<&Activity>,
    ) -> Result<(), Failure> {
        self.discard(sidecar.probe)?;
        let write_table = |file: &File| table::write(file, columns).map_err(io::Error::other);
        sidecar.files.extend([self.write(sidecar.probe, "parquet", write_table)?]);
        if let Some(activity) = activity {
            let write_records = |mut file: &File| file.write_all(&activity.records);
            sidecar.files.extend([self.write(sidecar.probe, "activity.bin", write_records)?]);
            let Activity { cupti, dropped, layout, .. } = *activity;
            sidecar.activity = Some(Recorded { cupti, dropped, layout });
        }
        let path = self.path(sidecar.probe, "json");
        let mut object = serde_json::to_value(&sidecar).map_err(|error| Failure::file(&path, error))?;
        object["check"] = digest::check(&object).into();
        self.write(sidecar.probe, "json", |mut file| {
            serde_json::to_writer_pretty(file, &object)?;
            file.write_all(b"\n")
        })?;
        Ok(())
    }

    /// A file exists either completely or not at all. Writes the samples; returns their name and what was written.
    fn write(
        &self,
        probe: &str,
        ending: &str,
        fill: impl FnOnce(&File) -> io::Result<()>,
    ) -> Result<(String, Entry), Failure> {
        let path = self.path(probe, ending);
        let written = || -> io::Result<Entry> {
            let mut builder = Builder::new();
            // As the user's umask allows, like any file.
            builder.prefix(UNFINISHED).permissions(Permissions::from_mode(0o666));
            let temporary: NamedTempFile = builder.tempfile_in(&self.0)?;
            fill(temporary.as_file())?;
            temporary.as_file().sync_all()?;
            let entry = Entry::of(temporary.path())?;
            temporary.persist(&path)?;
            Ok(entry)
        };
        let entry = written().map_err(|error| Failure::file(&path, error))?;
        Ok((format!("{probe}.{ending}"), entry))
    }

    fn path(&self, probe: &str, ending: &str) -> PathBuf {
        self.0.join(format!("{probe}.{ending}"))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::Folder;

    #[test]
    fn leftovers_go_and_everything_else_stays() {
        let place = tempfile::tempdir().unwrap();
        for name in [".octavo-probe-x1", "copies.parquet", "notes.txt"] {
            fs::write(place.path().join(name), "x").unwrap();
        }
        Folder::new(place.path()).prepare().unwrap();
        let mut left: Vec<_> = fs::read_dir(place.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["copies.parquet", "notes.txt"]);
    }

    #[test]
    fn a_damaged_sidecar_is_named() {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::new(place.path());
        assert!(folder.origin_of("copies").unwrap().is_none());
        fs::write(place.path().join("copies.json"), "{").unwrap();
        let error = folder.origin_of("copies").unwrap_err().to_string();
        assert!(error.contains("copies.json") && error.contains("is damaged"), "{error}");
        assert!(folder.discard("copies").unwrap_err().to_string().contains("remove it to measure again"));
        assert_eq!(fs::read(place.path().join("copies.json")).unwrap(), b"{");
    }

    #[test]
    fn a_file_that_no_sidecar_lists_is_not_replaced() {
        let place = tempfile::tempdir().unwrap();
        let (folder, path) = (Folder::new(place.path()), place.path().join("copies.parquet"));
        fs::write(&path, "mine").unwrap();
        let error = folder.discard("copies").unwrap_err().to_string();
        assert!(error.contains("copies.parquet") && error.contains("no sample of octavo-probe"), "{error}");
        assert_eq!(fs::read(&path).unwrap(), b"mine");
        folder.discard("launches").unwrap();
    }

    #[test]
    fn a_link_that_leads_nowhere_is_named() {
        let place = tempfile::tempdir().unwrap();
        let link = place.path().join("out");
        std::os::unix::fs::symlink("nothing", &link).unwrap();
        let error = Folder::new(&link).lock().err().unwrap().to_string();
        assert!(error.contains("is a symbolic link to nothing, which does not exist"), "{error}");
    }
}
