#!/bin/sh
# Installs the release that this file is part of, as root:
#
#   ./deploy/install.sh              installs it; run again, it changes nothing
#   ./deploy/install.sh --upgrade    installs it beside the running release, migrates, and restarts one unit at a time
#   ./deploy/install.sh --rollback   goes back to the release before, without a migration
#
# The first run takes these from its environment, and writes them to the settings: DATABASE_URL (without it, a role and a
# database are created in the Postgres of this machine), DELIVERY, HELO_NAME, PUBLIC_URL, RETURN_PATH_DOMAIN,
# TRUSTED_PROXIES, ADMIN_EMAIL, PORT and METRICS_PORT.
set -eu

home=/opt/postrider
cache=/var/cache/postrider
settings=/etc/postrider/postrider.env
units=/etc/systemd/system
ready_seconds=90

source=$(dirname "$(dirname "$(readlink -f "$0")")")

fail() {
  echo "install.sh: $*" >&2
  exit 1
}

say() {
  echo "$*"
}

check_machine() {
  [ "$(id -u)" = 0 ] || fail 'run it as root'
  [ "$(uname -s)" = Linux ] || fail "Postrider runs on Linux, and this is $(uname -s)"
  command -v systemctl > /dev/null || fail 'systemctl is missing: Postrider is started by systemd'
  [ -x "$source/bin/node" ] && [ -f "$source/RELEASE" ] ||
    fail "$source is not a release: build one with npm run release, and run the install.sh inside it"
  "$source/bin/node" --version > /dev/null 2>&1 ||
    fail "$source/bin/node does not run here: it was built for another kind of machine than $(uname -m)"
  version=$(cat "$source/RELEASE")
}

create_user() {
  getent passwd postrider > /dev/null ||
    useradd --system --home-dir /var/lib/postrider --no-create-home --shell /usr/sbin/nologin postrider
}

# Copies the release beside the others. An interrupted copy is never taken for a release.
copy_release() {
  mkdir -p "$home/releases"
  target=$home/releases/$version
  if [ "$source" != "$target" ] && [ ! -d "$target" ]; then
    rm -rf "$target.part"
    cp -a "$source" "$target.part"
    chown -R root:root "$target.part"
    mv "$target.part" "$target"
    say "copied $version to $target"
  fi
}

# Compiles the release as the user of the service, so that its first start takes no longer than any other.
compile() {
  install -d -o postrider -g postrider "$cache"
  [ -d "$cache/$version" ] ||
    runuser -u postrider -- env NODE_COMPILE_CACHE="$cache/$version" \
      "$home/releases/$version/bin/node" "$home/releases/$version/scripts/compile-ahead.mjs"
}

# Replaces a symbolic link in one step, so that it leads somewhere at any time.
link() {
  [ "$(readlink "$2" || true)" = "$1" ] && return
  ln -sfn "$1" "$2.new"
  mv -T "$2.new" "$2"
}

random_hex() {
  od -An -N "$1" -tx1 /dev/urandom | tr -d ' \n'
}

create_database() {
  command -v runuser > /dev/null && getent passwd postgres > /dev/null ||
    fail 'DATABASE_URL is not set, and this machine has no Postgres to create a database in'
  password=$(random_hex 24)
  exists=$(as_postgres "select 1 from pg_roles where rolname = 'postrider'")
  if [ -n "$exists" ]; then
    fail 'Postgres already has a role postrider: set DATABASE_URL to the database that Postrider should use'
  fi
  as_postgres "create role postrider login password '$password'"
  as_postgres 'create database postrider owner postrider'
  port=$(as_postgres 'show port')
  DATABASE_URL=postgres://postrider:$password@127.0.0.1:$port/postrider
  say 'created the role and the database postrider'
}

# By standard input, because other users of the machine can see arguments.
as_postgres() {
  printf '%s;\n' "$1" |
    runuser -u postgres -- psql --no-psqlrc --quiet --tuples-only --no-align --set ON_ERROR_STOP=1
}

write_settings() {
  [ -e "$settings" ] && return
  install -d -m 750 -o root -g postrider "$(dirname "$settings")"
  [ -n "${DATABASE_URL-}" ] || create_database
  (
    umask 027
    {
      echo '# The settings of Postrider: docs/settings.md lists all of them. Restart the units after a change.'
      echo '# Keep a copy of SECRET_KEY elsewhere: without it, DKIM keys and webhook secrets cannot be decrypted.'
      echo "SECRET_KEY=${SECRET_KEY:-$(random_hex 32)}"
      echo "DATABASE_URL=$DATABASE_URL"
      echo "DELIVERY=${DELIVERY:-capture}"
      for name in HELO_NAME PUBLIC_URL RETURN_PATH_DOMAIN TRUSTED_PROXIES ADMIN_EMAIL PORT METRICS_PORT; do
        eval "value=\${$name-}"
        [ -z "$value" ] || echo "$name=$value"
      done
    } > "$settings.part"
  )
  chown root:postrider "$settings.part"
  mv "$settings.part" "$settings"
  say "wrote $settings"
}

install_units() {
  changed=
  for unit in "$home"/current/deploy/systemd/*.service; do
    installed=$units/$(basename "$unit")
    cmp -s "$unit" "$installed" && continue
    install -m 644 "$unit" "$installed"
    changed=1
  done
  if [ -n "$changed" ]; then
    systemctl daemon-reload
    say "installed the units in $units"
  fi
  link "$home/current/deploy/postrider" /usr/local/bin/postrider
}

# Prints the URL of a unit's health check. The ports are those of deploy/serve.
ready_url() {
  host=$(setting HOST 127.0.0.1)
  case "$host" in 0.0.0.0 | ::) host=127.0.0.1 ;; esac
  number=${1#*@}
  number=${number%.service}
  case "$1" in
    postrider-api@*) echo "http://$host:$((3000 + number))/readyz" ;;
    postrider-worker@*) echo "http://$host:$((3100 + number))/readyz" ;;
    *) echo "http://$host:$(setting PORT 3000)/readyz" ;;
  esac
}

setting() {
  value=$(sed -n "s/^$1=//p" "$settings" | tail -n 1)
  echo "${value:-$2}"
}

await_ready() {
  url=$(ready_url "$1")
  "$home/current/bin/node" -e '
    const [url, seconds] = process.argv.slice(1);
    const until = Date.now() + 1000 * seconds;
    const ask = () => fetch(url, { signal: AbortSignal.timeout(2000) }).then((response) => response.ok, () => false);
    while (!(await ask())) {
      if (Date.now() > until) process.exit(1);
      await new Promise((resolve) => setTimeout(resolve, 250));
    }' --input-type=module "$url" "$ready_seconds"
}

# Restarts the running units one after another, each once the one before is ready.
restart_units() {
  for unit in $(running_units); do
    systemctl restart "$unit" && await_ready "$unit" || return 1
    say "$unit runs $(readlink "$home/current" | sed 's,.*/,,')"
  done
}

running_units() {
  systemctl list-units --plain --no-legend --state=active 'postrider*.service' | awk '{ print $1 }'
}

install_first() {
  create_user
  if [ -e "$home/current" ]; then
    current=$(basename "$(readlink "$home/current")")
    [ "$current" = "$version" ] || fail "$current is installed: run it with --upgrade to go to $version"
  fi
  copy_release
  link "releases/$version" "$home/current"
  write_settings
  install_units
  systemctl is-enabled --quiet postrider 2> /dev/null && systemctl is-active --quiet postrider && {
    say "Postrider $version is installed and running."
    return
  }
  compile
  "$home/current/deploy/postrider" migrate > /dev/null || fail "the database could not be prepared: check DATABASE_URL in $settings"
  systemctl enable --now postrider
  await_ready postrider.service || fail 'the service is not ready: see journalctl -u postrider, or run postrider doctor'
  say "Postrider $version runs at http://127.0.0.1:$(setting PORT 3000)."
  say 'Its first API key and a sign-in link are in /var/lib/postrider/first-start.'
  say "Next: change $settings, run systemctl restart postrider, then postrider doctor."
}

upgrade() {
  [ -e "$home/current" ] || fail 'nothing is installed yet: run it without --upgrade'
  before=$(readlink "$home/current")
  [ "$before" != "releases/$version" ] || { say "$version is installed already."; return; }
  copy_release
  compile
  # The previous release keeps working on the migrated database.
  "$home/releases/$version/deploy/postrider" migrate || fail 'the migration failed; the release before is still running'
  link "$before" "$home/previous"
  link "releases/$version" "$home/current"
  install_units
  if ! restart_units; then
    link "$before" "$home/current"
    install_units
    restart_units || true
    fail "$version did not get ready, so $(basename "$before") was started again: see journalctl"
  fi
  remove_old_releases
  say "Upgraded from $(basename "$before") to $version."
}

rollback() {
  [ -L "$home/previous" ] || fail 'there is no release before this one'
  to=$(readlink "$home/previous")
  from=$(readlink "$home/current")
  [ "$to" != "$from" ] || fail "the release before, $(basename "$to"), is the one that runs"
  link "$to" "$home/current"
  install_units
  restart_units || fail "$(basename "$to") did not get ready: see journalctl"
  say "Rolled back from $(basename "$from") to $(basename "$to")."
}

remove_old_releases() {
  for folder in "$home"/releases/*/; do
    name=releases/$(basename "$folder")
    [ "$name" = "$(readlink "$home/current")" ] || [ "$name" = "$(readlink "$home/previous" || true)" ] ||
      rm -rf "$folder" "$cache/$(basename "$folder")"
  done
}

case "${1-}" in
  '')
    check_machine
    install_first
    ;;
  --upgrade)
    check_machine
    upgrade
    ;;
  --rollback)
    [ "$(id -u)" = 0 ] || fail 'run it as root'
    rollback
    ;;
  *)
    fail 'usage: install.sh [--upgrade | --rollback]'
    ;;
esac
