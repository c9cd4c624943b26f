//! What `hdiutil` (macOS) is asked, and what it answers: as values, so that both are tested everywhere.

use std::ffi::{OsStr, OsString};

use crate::kind::Format;

/// Of encrypted images; they hold nothing but test data, for some seconds. It goes through standard input, never through the arguments,
/// which every user can see.
pub(crate) const PASSPHRASE: &str = "gannet";

/// Makes an image of at least `size` bytes with one APFS volume.
pub(crate) fn create(file: &OsStr, size: u64, format: Format, encrypted: bool) -> Vec<OsString> {
    let size = format!("{}k", size.div_ceil(1024));
    let fixed = ["create", "-size", &size, "-type", format.hdiutil().0, "-fs", "APFS", "-volname", "gannet"];
    let mut arguments: Vec<OsString> = fixed.into_iter().map(Into::into).collect();
    if encrypted {
        arguments.extend(["-encryption", "AES-256", "-stdinpass"].map(Into::into));
    }
    arguments.push(file.into());
    arguments
}

/// Attaches it and mounts its volume, out of the sight of the Finder.
pub(crate) fn attach(file: &OsStr, mount_point: &OsStr, encrypted: bool) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = ["attach", "-plist", "-nobrowse", "-mountpoint"].map(Into::into).into();
    arguments.push(mount_point.into());
    if encrypted {
        arguments.push("-stdinpass".into());
    }
    arguments.push(file.into());
    arguments
}

/// The device of all of an image, from what `attach -plist` printed: that of the partition scheme; the file system and its container have
/// others. By it an image is detached even when its volume has been unmounted already.
pub(crate) fn whole_disk(attached: &str) -> Option<&str> {
    let value = |part: &'_ str, key: &str| -> Option<std::ops::Range<usize>> {
        let key = format!("<key>{key}</key>");
        let after = part.find(&key)? + key.len();
        let begin = after + part[after..].find("<string>")? + "<string>".len();
        // The value must follow its key at once.
        part[after..begin].trim().eq("<string>").then_some(())?;
        Some(begin..begin + part[begin..].find("</string>")?)
    };
    // The entities are the innermost dictionaries.
    attached.split("<dict>").find_map(|part| {
        let entity = part.split("</dict>").next()?;
        let hint = value(entity, "content-hint")?;
        let device = &entity[value(entity, "dev-entry")?];
        (entity[hint].ends_with("partition_scheme") && device.starts_with("/dev/disk")).then_some(device)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The shape of what macOS prints for an image with a partition map and an APFS container; the order of the entities is not fixed.
    const ATTACHED: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>system-entities</key>
	<array>
		<dict>
			<key>content-hint</key>
			<string>Apple_APFS</string>
			<key>dev-entry</key>
			<string>/dev/disk4s1</string>
			<key>potentially-mountable</key>
			<true/>
			<key>unmapped-content-hint</key>
			<string>7C3457EF-0000-11AA-AA11-00306543ECAC</string>
		</dict>
		<dict>
			<key>content-hint</key>
			<string>EF57347C-0000-11AA-AA11-00306543ECAC</string>
			<key>dev-entry</key>
			<string>/dev/disk5</string>
			<key>potentially-mountable</key>
			<false/>
		</dict>
		<dict>
			<key>content-hint</key>
			<string>41504653-0000-11AA-AA11-00306543ECAC</string>
			<key>dev-entry</key>
			<string>/dev/disk5s1</string>
			<key>mount-point</key>
			<string>/private/tmp/mount</string>
			<key>potentially-mountable</key>
			<true/>
			<key>volume-kind</key>
			<string>apfs</string>
		</dict>
		<dict>
			<key>content-hint</key>
			<string>GUID_partition_scheme</string>
			<key>dev-entry</key>
			<string>/dev/disk4</string>
			<key>potentially-mountable</key>
			<false/>
		</dict>
	</array>
</dict>
</plist>
"#;

    #[test]
    fn the_whole_disk_is_that_of_the_partition_scheme() {
        assert_eq!(whole_disk(ATTACHED), Some("/dev/disk4"));
        let tight = ATTACHED.replace(['\n', '\t'], "");
        assert_eq!(whole_disk(&tight), Some("/dev/disk4"));
        let other_order =
            "<dict><key>dev-entry</key><string>/dev/disk9</string><key>content-hint</key><string>Apple_partition_scheme</string></dict>";
        assert_eq!(whole_disk(other_order), Some("/dev/disk9"));
    }

    #[test]
    fn what_is_not_understood_is_not_guessed() {
        for text in [
            "",
            "hdiutil: attach failed - no mountable file systems",
            "<dict><key>content-hint</key><string>GUID_partition_scheme</string></dict>",
            "<dict><key>content-hint</key><true/><key>dev-entry</key><string>/dev/disk4</string></dict>",
            "<dict><key>content-hint</key><string>GUID_partition_scheme</string><key>dev-entry</key><string>disk4</string></dict>",
            "<dict><key>content-hint</key><string>GUID_partition_scheme",
        ] {
            assert_eq!(whole_disk(text), None, "{text}");
        }
        // A plist that is cut anywhere gives the device or nothing.
        for end in 0..ATTACHED.len() {
            assert!(matches!(whole_disk(&ATTACHED[..end]), None | Some("/dev/disk4")), "{end}");
        }
    }

    #[test]
    fn arguments() {
        let made = create("/v/a.dmg".as_ref(), 1_000_001, Format::ReadWrite, false);
        assert_eq!(made.join(" ".as_ref()), *"create -size 977k -type UDIF -fs APFS -volname gannet /v/a.dmg");
        let made = create("/v/a.sparsebundle".as_ref(), 1 << 30, Format::SparseBundle, true);
        let line = "create -size 1048576k -type SPARSEBUNDLE -fs APFS -volname gannet -encryption AES-256 -stdinpass /v/a.sparsebundle";
        assert_eq!(made.join(" ".as_ref()), *line);
        assert_eq!(attach("i".as_ref(), "m".as_ref(), false).join(" ".as_ref()), *"attach -plist -nobrowse -mountpoint m i");
        assert_eq!(attach("i".as_ref(), "m".as_ref(), true).join(" ".as_ref()), *"attach -plist -nobrowse -mountpoint m -stdinpass i");
    }
}
