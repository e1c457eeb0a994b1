#!/usr/bin/env bash
# Plays one deal against two bots, with curl and jq alone: play.sh http://127.0.0.1:7780
set -euo pipefail
server=${1:?Say where: play.sh http://127.0.0.1:7780}
server=${server%/}

# Whoever knows the credential holds the seat: 32 random bytes, in base64url, of our own making.
random() { head -c "$1" /dev/urandom | base64 | tr -d '\n=' | tr '+/' '-_'; }
credential=$(random 32)

# call SERVICE/METHOD JSON: the answer, or the refusal on stderr and the end. --retry repeats what got
# no answer; the request id makes that safe.
call() {
  local answer
  answer=$(curl --silent --show-error --fail-with-body --retry 5 --retry-connrefused --max-time 10 \
    --header "authorization: Bearer $credential" --header 'content-type: application/json' \
    --data "$2" "$server/odin_table.v1.$1") || { echo "$answer" >&2; exit 1; }
  echo "$answer"
}

# with JSON: the same with a request id, which every call that changes something has.
with() { printf '%s' "$1" | jq --compact-output --arg id "$(random 16)" '{requestId: $id} + .'; }

tables=$(call LobbyService/ListTables '{}')
echo 'The tables that are open:'
echo "$tables" | jq --raw-output '.tables[]? | "\(.table)  \([.seats[].name // empty] | join(", "))"'

# Open a table, sit down, and fill it with bots.
table=$(call LobbyService/CreateTable "$(with '{"options": {"seats": 3, "singleDeal": true}}')" |
  jq --raw-output .table)
here=$(printf '{"table": "%s"}' "$table")
call LobbyService/TakeSeat "$(with "$(echo "$here" | jq '. + {name: "curl"}')")" >/dev/null
call LobbyService/AddBot "$(with "$here")" >/dev/null
call LobbyService/AddBot "$(with "$here")" >/dev/null

# Whoever watches is there; whoever is away for two minutes is played by a substitute until the next
# act. In a stream a message has five bytes before it: flags, and its length, here in the last one.
# shellcheck disable=SC2059 # that byte is written as an escape, which is a format
{ printf '\000\000\000\000'"\\$(printf '%03o' ${#here})" && printf '%s' "$here"; } |
  curl --silent --no-buffer --output /dev/null --data-binary @- \
    --header "authorization: Bearer $credential" --header 'content-type: application/connect+json' \
    "$server/odin_table.v1.PlayService/WatchTable" &
watching=$!
trap 'kill "$watching" 2>/dev/null || :' EXIT

call LobbyService/SetReady "$(with "$(echo "$here" | jq '. + {ready: true}')")" >/dev/null
echo "Playing at $table."

# Look again and again; when it is our turn, the view lists what may be done.
while view=$(call PlayService/GetView "$here") &&
  [ "$(echo "$view" | jq --raw-output .view.phase)" != TABLE_PHASE_GAME_OVER ]; do
  act=$(echo "$view" | jq --compact-output '.view.decision | select(.choices) | {
    table: $here.table,
    decisionId: .id,
    action: (.choices as {$plays, $pickUps, $defaultAction} |
      if $plays == null then $defaultAction
      else {playCards: {
        cards: $plays[0].cards,
        pickUp: (if $plays[0].goesOut or $pickUps == null then "CARD_UNSPECIFIED" else $pickUps[0] end)
      }} end)
  }' --argjson here "$here")
  if [ -n "$act" ]; then
    echo "$act" | jq --raw-output '.action | if .playCards then "play \(.playCards.cards | join(" "))" else keys[0] end'
    call PlayService/Act "$(with "$act")" >/dev/null
  else
    sleep 0.3
  fi
done

echo "$view" | jq --raw-output '.view | .seats as $seats |
  "Won: \([.game.winners[] | $seats[.].name] | join(" and "))",
  (.game.players[] | "\($seats[.seat // 0].name)  \(.total // 0)")'
