# Runs postgres, "$@", for a parent that may die at any moment.
#
# 3 brings the parent's orders, one a line: a signal's name for postgres, or "gone" when the parent saw it end.
# When 3 ends, the parent has ended or wants the end.
# 4, 5 and 6 are for postgres alone: that the last of its processes has ended shows in their being closed.
"$@" 3<&- &
postgres=$!
exec 4>&- 5>&- 6>&-

while read -r order <&3; do
	if [ "$order" = gone ]; then
		wait $postgres
		exit
	fi
	kill -s "$order" $postgres
done

# More than one INT: at its very beginning postgres does not hear it yet.
(
	trap 'kill $nap; wait $nap; exit' TERM
	for signal in INT INT INT INT INT QUIT QUIT QUIT QUIT QUIT KILL; do
		kill -s $signal $postgres || exit
		sleep 1 &
		nap=$!
		wait $nap
	done
) 2>/dev/null &
wait $postgres
kill $! 2>/dev/null
wait
