//! The host's description of itself, for measured values that depend on its memory.

use std::fs;
use std::path::Path;

use crate::facts::{Fact, Facts};

/// Where Linux says it.
const SYSTEM: &str = "/sys";
const PROCESSES: &str = "/proc";

/// Processor, kernel, bytes of a page, and Linux's settings for huge pages and the GPU's place; unknown facts are left
/// out.
///
/// `numa_node` is the node of memory that the GPU hangs on, `numa_nodes` how many there are. Buffers lie where their
/// thread runs, so that on several nodes copies depend on where that is.
#[must_use]
pub fn describe_host(pci_bus_id: &str) -> Facts {
    describe(pci_bus_id, Path::new(SYSTEM), Path::new(PROCESSES))
}

fn describe(pci_bus_id: &str, system: &Path, processes: &Path) -> Facts {
    let found = [
        ("host", Some(processor(processes).into())),
        ("kernel", read(&processes.join("sys/kernel/osrelease")).map(|text| text.trim().to_owned().into())),
        ("page_bytes", Some((rustix::param::page_size() as u64).into())),
        ("transparent_huge_pages", huge_pages(system).map(Fact::from)),
        ("numa_nodes", count_nodes(system).map(Fact::from)),
        ("numa_node", node_of(pci_bus_id, system).map(Fact::from)),
        ("processors", std::thread::available_parallelism().ok().map(|count| (count.get() as u64).into())),
    ];
    found.into_iter().filter(|(_, fact)| fact.is_some()).collect()
}

/// The processor's name, or what kind it is.
fn processor(processes: &Path) -> String {
    let text = read(&processes.join("cpuinfo")).unwrap_or_default();
    let names = text.lines().filter_map(|line| line.split_once(':')).filter(|(key, _)| key.trim() == "model name");
    let name = names.map(|(_, name)| name.trim()).find(|name| !name.is_empty());
    name.unwrap_or(std::env::consts::ARCH).to_owned()
}

/// The mode in brackets: `always`, `madvise` or `never`.
fn huge_pages(system: &Path) -> Option<String> {
    let text = read(&system.join("kernel/mm/transparent_hugepage/enabled"))?;
    let (_, chosen) = text.split_once('[')?;
    chosen.split_once(']').map(|(mode, _)| mode.to_owned())
}

fn count_nodes(system: &Path) -> Option<u64> {
    let entries = fs::read_dir(system.join("devices/system/node")).ok()?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let count = names.filter(|name| name.strip_prefix("node").is_some_and(is_number)).count() as u64;
    Some(count).filter(|&count| count > 0)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The kernel writes -1 where there is one node or none.
fn node_of(pci_bus_id: &str, system: &Path) -> Option<u64> {
    let device = system.join("bus/pci/devices").join(pci_bus_id.to_lowercase());
    read(&device.join("numa_node"))?.trim().parse().ok()
}

fn read(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::describe;
    use crate::facts::Fact;

    fn write(folder: &Path, path: &str, text: &str) {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn known(folder: &Path, name: &str) -> Option<Fact> {
        describe("0000:1B:00.0", folder, folder).into_iter().find(|(key, _)| *key == name).and_then(|(_, fact)| fact)
    }

    #[test]
    fn what_linux_says_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        write(root, "kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
        write(root, "devices/system/node/node0/cpulist", "0-7\n");
        write(root, "devices/system/node/node1/cpulist", "8-15\n");
        write(root, "devices/system/node/online", "0-1\n");
        write(root, "bus/pci/devices/0000:1b:00.0/numa_node", "1\n");
        write(root, "cpuinfo", "processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\n");
        write(root, "sys/kernel/osrelease", "6.1.0\n");
        assert_eq!(known(root, "transparent_huge_pages"), Some(Fact::Words("madvise".to_owned())));
        assert_eq!(known(root, "numa_nodes"), Some(Fact::Number(2)));
        assert_eq!(known(root, "numa_node"), Some(Fact::Number(1)));
        assert_eq!(known(root, "host"), Some(Fact::Words("Some CPU @ 2 GHz".to_owned())));
        assert_eq!(known(root, "kernel"), Some(Fact::Words("6.1.0".to_owned())));
        write(root, "bus/pci/devices/0000:1b:00.0/numa_node", "-1\n");
        assert_eq!(known(root, "numa_node"), None);
    }

    #[test]
    fn what_is_not_known_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let names: Vec<&str> = describe("", folder.path(), folder.path()).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["host", "page_bytes", "processors"]);
    }
}
