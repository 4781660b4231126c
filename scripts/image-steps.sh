#!/bin/sh
# Shows that the steps of the Dockerfile work, without a container: runs its COPY and RUN lines, as they stand there, in an
# empty folder, as the user who calls it. The build stage becomes <folder>/build, the last stage <folder>/app.
#
#   scripts/image-steps.sh <empty folder>     run the steps
#   scripts/image-steps.sh --list             print them
set -eu

checkout=$(cd "$(dirname "$0")/.." && pwd)

fail() {
  echo "image-steps: $1" >&2
  exit 1
}

# Copies like Docker: files into the destination folder, a folder's contents to the destination.
copy() {
  from=$1
  to=$2
  shift 2
  for last in "$@"; do :; done
  while [ $# -gt 1 ]; do
    source=$from/${1#/app/}
    [ -e "$source" ] || fail "there is no $source"
    mkdir -p "$to/$last"
    if [ -d "$source" ]; then cp -R "$source/." "$to/$last/"; else cp "$source" "$to/$last/"; fi
    shift
  done
}

[ $# -eq 1 ] || fail 'usage: scripts/image-steps.sh <empty folder> | --list'
if [ "$1" = --list ]; then
  exec grep -E '^(COPY|RUN) ' "$checkout/Dockerfile"
fi

mkdir -p "$1"
folder=$(cd "$1" && pwd)
[ -z "$(ls -A "$folder")" ] || fail "$folder is not empty"

stage=$folder/build
mkdir "$stage"
while IFS= read -r line; do
  case $line in
    'FROM '*' AS build' | 'WORKDIR /app') ;;
    'FROM '*)
      stage=$folder/app
      mkdir "$stage"
      ;;
    'COPY --from=build '*)
      echo "> $line"
      words=${line#COPY --from=build }
      # Everything belongs to whoever runs this.
      # shellcheck disable=SC2086 # the words of the line are meant
      copy "$folder/build" "$stage" ${words#--chown=node:node }
      ;;
    'COPY '*)
      echo "> $line"
      # shellcheck disable=SC2086
      copy "$checkout" "$stage" ${line#COPY }
      ;;
    'RUN '*)
      echo "> $line"
      (cd "$stage" && sh -c "${line#RUN }" </dev/null)
      ;;
  esac
done <"$checkout/Dockerfile"
echo "Made $folder/app; it starts by: NODE_ENV=production DATABASE_URL=… node --max-semi-space-size=32 dist/src/main.js"
